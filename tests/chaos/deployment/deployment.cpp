// What workers lock on.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/deployment.hpp"

#include <stdexcept>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "chaos/deployment/cluster.hpp"
#include "chaos/deployment/sentinels.hpp"
#include "chaos/deployment/single_server.hpp"
#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

// The permits that are taken are in a key beside that of the semaphore, which stays.
unsigned Deployment::excuses(const PlannedFault& fault) const {
  using enum FaultKind;
  unsigned all = traits(fault.kind).excuses;
  const bool leaves_permits = fault.kind == wrong_type || fault.kind == delete_key;
  if (fault.key == static_cast<int>(semaphore_key) && leaves_permits) {
    all &= ~static_cast<unsigned>(forgets);
  }
  return all;
}

void Deployment::send(const tests::RedisServer& server,
                      std::initializer_list<std::string_view> words) {
  const tests::Reply reply = server.client()(words);
  if (reply.is_error()) {
    throw std::runtime_error(std::string(*words.begin()) + ": " + reply.text());
  }
}

void Deployment::force_release(const std::string& uri, int key) {
  try {
    const Locks locks = Locks::connect(uri);
    const std::string name = name_of_key(static_cast<std::uint32_t>(key));
    if (key == static_cast<int>(semaphore_key)) {
      locks.semaphore(name, semaphore_permits).destroy();
    } else {
      locks.force_release(name);
    }
  } catch (const BackendUnavailable&) {
    return;  // the machine is too busy; the fault may have happened or not
  }
}

std::unique_ptr<Deployment> make_deployment(DeploymentKind kind) {
  switch (kind) {
    case DeploymentKind::all:
    case DeploymentKind::single: return std::make_unique<SingleServer>();
    case DeploymentKind::cluster: return std::make_unique<Cluster>();
    case DeploymentKind::sentinel: return std::make_unique<Sentinels>(0);
    case DeploymentKind::confirmed: return std::make_unique<Sentinels>(Sentinels::replicas);
  }
  return nullptr;
}

}  // namespace latchkey::chaos
