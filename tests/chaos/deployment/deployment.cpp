// Code that all deployments share, and how each kind is made.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/deployment.hpp"

#include <chrono>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "chaos/deployment/redis/cluster.hpp"
#include "chaos/deployment/redis/quorum.hpp"
#include "chaos/deployment/redis/redisson.hpp"
#include "chaos/deployment/redis/sentinels.hpp"
#include "chaos/deployment/redis/single_server.hpp"
#include "chaos/deployment/redis/with_idle_locks.hpp"
#include "chaos/deployment/redis/with_tool.hpp"
#include "chaos/deployment/stores/stores.hpp"
#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

std::uint64_t Deployment::token_of_now() {
  using std::chrono::duration_cast, std::chrono::microseconds, std::chrono::system_clock;
  const auto since_epoch = system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(duration_cast<microseconds>(since_epoch).count());
}

std::string Deployment::key_of(const PlannedFault& fault) {
  return name_of_key(static_cast<std::uint32_t>(fault.key));
}

void Deployment::force_release(const std::string& uri, const PlannedFault& fault) {
  try {
    const Locks locks = Locks::connect(uri, {.watchdog = watchdog_period});
    const std::string name = key_of(fault);
    if (fault.key == static_cast<int>(semaphore_key) && locks.capabilities().permits) {
      locks.semaphore(name, semaphore_permits).destroy();
    } else {
      locks.force_release(name);
    }
  } catch (const BackendUnavailable&) {
    return;  // the machine is too busy; the fault may have happened or not
  } catch (const BackendRefused&) {
    return;  // another fault has made something else of the key, or forbids the command
  }
}

int Deployment::revoke(const PlannedFault& fault) const {
  try {
    const Locks locks = Locks::connect(uri(link_port()), {.watchdog = watchdog_period});
    return static_cast<int>(locks.revoke(key_of(fault)));
  } catch (const BackendUnavailable&) {
    return -1;  // the machine is too busy
  } catch (const BackendRefused&) {
    return -1;  // as above
  }
}

bool Deployment::tells_of_changes() const {
  try {
    return Locks::connect(uri(link_port()), {.watchdog = watchdog_period}).capabilities().watches;
  } catch (const BackendUnavailable&) {
    return false;
  }
}

std::unique_ptr<Deployment> make_deployment(DeploymentKind kind) {
  switch (kind) {
    case DeploymentKind::all:
    case DeploymentKind::single: return std::make_unique<SingleServer>();
    case DeploymentKind::tool: return std::make_unique<SharedWithTool>();
    case DeploymentKind::idle: return std::make_unique<WithIdleLocks<SingleServer>>();
    case DeploymentKind::idle_cluster: return std::make_unique<WithIdleLocks<Cluster>>();
    case DeploymentKind::cluster: return std::make_unique<Cluster>();
    case DeploymentKind::sentinel: return std::make_unique<Sentinels>(0);
    case DeploymentKind::redisson: return std::make_unique<SharedWithRedisson>();
    case DeploymentKind::confirmed: return std::make_unique<Sentinels>(Sentinels::replicas);
    case DeploymentKind::quorum: return std::make_unique<Quorum>();
    default: return make_store(kind);
  }
}

}  // namespace latchkey::chaos
