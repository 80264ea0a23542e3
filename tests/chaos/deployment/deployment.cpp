// What workers lock on.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/deployment.hpp"

#include <stdexcept>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "chaos/deployment/cluster.hpp"
#include "chaos/deployment/sentinels.hpp"
#include "chaos/deployment/single_server.hpp"
#include "chaos/faults/forbidden_commands.hpp"
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

std::string Deployment::key_of(const PlannedFault& fault) {
  return name_of_key(static_cast<std::uint32_t>(fault.key));
}

void Deployment::permit(const tests::RedisServer& server, const PlannedFault& fault,
                        std::string rule) {
  const std::string_view command = forbidden_name(fault.strength);
  if (is_sharded(command) && server.version() < 700) return;
  send(server, {"ACL", "SETUSER", "default", rule += command});
}

void Deployment::begin_on(const tests::RedisServer& server, const PlannedFault& fault) {
  using enum FaultKind;
  switch (fault.kind) {
    case kill_normal: return send(server, {"CLIENT", "KILL", "TYPE", "normal"});
    case kill_pubsub: return send(server, {"CLIENT", "KILL", "TYPE", "pubsub"});
    case kill_replicas: return send(server, {"CLIENT", "KILL", "TYPE", "replica"});
    case flushall: return send(server, {"FLUSHALL"});
    case script_flush: return send(server, {"SCRIPT", "FLUSH"});
    case max_memory: return send(server, {"CONFIG", "SET", "maxmemory", "1"});
    case no_replicas: return send(server, {"CONFIG", "SET", "min-replicas-to-write", "9"});
    case forbidden_command: return permit(server, fault, "-");
    case wrong_type: return send(server, {"SET", key_of(fault), "text"});
    case delete_key: return send(server, {"DEL", key_of(fault)});
    default: return;
  }
}

void Deployment::end_on(const tests::RedisServer& server, const PlannedFault& fault) {
  using enum FaultKind;
  switch (fault.kind) {
    case max_memory: return send(server, {"CONFIG", "SET", "maxmemory", "0"});
    case no_replicas: return send(server, {"CONFIG", "SET", "min-replicas-to-write", "0"});
    case forbidden_command: return permit(server, fault, "+");
    case wrong_type: return send(server, {"DEL", key_of(fault)});
    default: return;
  }
}

void Deployment::force_release(const std::string& uri, const PlannedFault& fault) {
  try {
    const Locks locks = Locks::connect(uri);
    const std::string name = key_of(fault);
    if (fault.key == static_cast<int>(semaphore_key)) {
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
