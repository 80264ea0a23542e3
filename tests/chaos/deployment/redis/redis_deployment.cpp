// Deployments of Redis.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/redis_deployment.hpp"

#include <array>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "chaos/deployment/redis/redis_leftovers.hpp"
#include "chaos/faults/forbidden_commands.hpp"
#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {
namespace {

struct ServerSetting {
  std::string_view name, usual, other;
};

/// Settings that change connections, events and how values are stored. Redis 7 has other names for
/// those of ziplists, and knows these, too.
constexpr std::array server_settings{
    ServerSetting{"timeout", "0", "1"},
    ServerSetting{"tcp-keepalive", "300", "1"},
    ServerSetting{"notify-keyspace-events", "", "KEA"},
    ServerSetting{"maxmemory-policy", "noeviction", "allkeys-random"},
    ServerSetting{"lazyfree-lazy-expire", "no", "yes"},
    ServerSetting{"lazyfree-lazy-user-del", "no", "yes"},
    ServerSetting{"lazyfree-lazy-server-del", "no", "yes"},
    ServerSetting{"hash-max-ziplist-entries", "128", "1"},
    ServerSetting{"zset-max-ziplist-entries", "128", "1"},
    ServerSetting{"hz", "10", "1"}};

}  // namespace

// The permits that are taken are in a key beside that of the semaphore, which stays.
unsigned RedisDeployment::excuses(const PlannedFault& fault) const {
  using enum FaultKind;
  unsigned all = traits(fault.kind).excuses;
  const bool leaves_permits = fault.kind == wrong_type || fault.kind == delete_key;
  if (fault.key == static_cast<int>(semaphore_key) && leaves_permits) {
    all &= ~static_cast<unsigned>(forgets);
  }
  return all;
}

void RedisDeployment::send(const tests::RedisServer& server,
                           std::initializer_list<std::string_view> words) {
  const tests::Reply reply = server.client()(words);
  if (reply.is_error()) {
    throw std::runtime_error(std::string(*words.begin()) + ": " + reply.text());
  }
}

void RedisDeployment::permit(const tests::RedisServer& server, const PlannedFault& fault,
                             std::string rule) {
  const std::string_view command = forbidden_name(fault.strength);
  if (is_sharded(command) && server.version() < 700) return;
  send(server, {"ACL", "SETUSER", "default", rule += command});
}

void RedisDeployment::set_all(const tests::RedisServer& server, bool usual) {
  for (const ServerSetting& each : server_settings) {
    send(server, {"CONFIG", "SET", each.name, usual ? each.usual : each.other});
  }
}

void RedisDeployment::subscribe_to_all(const tests::RedisServer& server) {
  tests::RedisClient client = server.client();
  if (client({"PSUBSCRIBE", "*"}).is_error()) throw std::runtime_error("PSUBSCRIBE is refused");
  subscribers_.push_back(std::move(client));
}

void RedisDeployment::begin_on(const tests::RedisServer& server, const PlannedFault& fault) {
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
    case pattern_subscriber: return subscribe_to_all(server);
    case session_settings: return set_all(server, false);
    case wrong_type: return send(server, {"SET", key_of(fault), "text"});
    case delete_watched:
    case delete_key: return send(server, {"DEL", key_of(fault)});
    default: return;
  }
}

void RedisDeployment::end_on(const tests::RedisServer& server, const PlannedFault& fault) {
  using enum FaultKind;
  switch (fault.kind) {
    case max_memory: return send(server, {"CONFIG", "SET", "maxmemory", "0"});
    case no_replicas: return send(server, {"CONFIG", "SET", "min-replicas-to-write", "0"});
    case forbidden_command: return permit(server, fault, "+");
    case pattern_subscriber: return subscribers_.clear();
    case session_settings: return set_all(server, true);
    case wrong_type: return send(server, {"DEL", key_of(fault)});
    default: return;
  }
}

std::string RedisDeployment::keys_left(bool abandoned) const {
  std::string text;
  for (const tests::RedisServer* const server : servers()) {
    text += redis_keys_left(*server, {abandoned, leaves_fair_queues()});
  }
  return text;
}

std::string RedisDeployment::subscriptions_left() const {
  std::string text;
  for (const tests::RedisServer* const server : servers()) text += redis_channels_left(*server);
  return text;
}

void RedisDeployment::save_logs(const std::filesystem::path& folder) const {
  std::error_code ignored;
  for (const tests::RedisServer* const server : servers()) {
    const std::string name = "server-" + std::to_string(server->port()) + ".log";
    std::filesystem::copy_file(server->folder() / "log", folder / name, ignored);
  }
}

}  // namespace latchkey::chaos
