// The keys and subscriptions that are left on a Redis server when nobody calls.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/redis_leftovers.hpp"

#include <sstream>
#include <string_view>
#include <vector>

#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {
namespace {

bool is_fair_queue(std::string_view key) {
  return key.starts_with("redisson_lock_queue:") || key.starts_with("redisson_lock_timeout:");
}

bool is_queue(std::string_view key) {
  return is_fair_queue(key) || key.starts_with("latchkey_process_queue:") ||
         key.starts_with("latchkey_permit_queue:") || key.starts_with("latchkey_waiting_writer:");
}

/// The key of the permits of the semaphore that are taken.
std::string taken_permits() { return '{' + name_of_key(semaphore_key) + "}:timeout"; }

bool is_semaphore(std::string_view key) {
  return key == name_of_key(semaphore_key) || key == taken_permits();
}

/// A semaphore stays. All of its permits are available, or the next acquire makes them so because
/// their leases have ended.
bool is_whole(tests::RedisClient& client) {
  const std::vector<std::string> time = client({"TIME"}).list();
  const std::string now_ms = time.at(0) + "999";
  const long long ended = client({"ZCOUNT", taken_permits(), "-inf", now_ms}).integer();
  return client({"GET", name_of_key(semaphore_key)}).text() ==
         std::to_string(semaphore_permits - ended);
}

/// Returns the lines of CLIENT LIST for the clients that have subscriptions, except Redisson's: it
/// keeps some for which it could not unsubscribe.
std::string subscribers(tests::RedisClient& client) {
  std::istringstream lines(client({"CLIENT", "LIST"}).text());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool has_sharded =
        line.find(" ssub=") != std::string::npos && line.find(" ssub=0 ") == std::string::npos;
    if (line.find(" name=redisson ") != std::string::npos) continue;
    if (has_sharded || line.find(" sub=0 ") == std::string::npos) {
      text += "\n  " + line;
    }
  }
  return text;
}

}  // namespace

std::string redis_keys_left(const tests::RedisServer& server, AllowedQueues allowed) {
  std::string text;
  tests::RedisClient client = server.client();
  for (const std::string& key : client({"KEYS", "*"}).list()) {
    if (key.starts_with("redisson_lock_token:")) continue;  // stays, so that tokens only rise
    if (allowed.fair && is_fair_queue(key)) continue;
    if (is_semaphore(key) && is_whole(client)) continue;
    const long long ttl = client({"PTTL", key}).integer();
    if (allowed.with_ttl && is_queue(key) && ttl > 0) {
      client({"DEL", key});  // nobody waits now, and the next round is judged anew
      continue;
    }
    if (ttl != -2) text += ' ' + key + " (TTL " + std::to_string(ttl) + " ms)";
  }
  return text;
}

std::string redis_channels_left(const tests::RedisServer& server) {
  std::string text;
  tests::RedisClient client = server.client();
  for (const std::string& each : client({"PUBSUB", "CHANNELS"}).list()) {
    if (!each.starts_with("__sentinel__")) text += ' ' + each;
  }
  if (server.version() >= 700) {
    for (const std::string& each : client({"PUBSUB", "SHARDCHANNELS"}).list()) text += ' ' + each;
  }
  if (text.empty()) return text;
  const std::string clients = subscribers(client);
  return clients.empty() ? clients : text + " at one of these clients:" + clients;
}

}  // namespace latchkey::chaos
