// What must not be left when nobody calls.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/leftovers.hpp"

#include <poll.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {
namespace {

/// Polls the server, which cannot report that a key has expired. What `left` finds after 8 s.
template <class Left>
std::string remaining(Left&& left) {
  std::string found = left();
  for (const Nanos end = now() + 8'000 * millisecond; !found.empty() && now() < end;) {
    ::poll(nullptr, 0, 20);
    found = left();
  }
  return found;
}

bool is_queue(std::string_view key) {
  return key.starts_with("redisson_lock_queue:") || key.starts_with("redisson_lock_timeout:") ||
         key.starts_with("latchkey_process_queue:") || key.starts_with("latchkey_permit_queue:") ||
         key.starts_with("latchkey_waiting_writer:");
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

/// What CLIENT LIST says of the clients that have subscriptions, a line for each.
std::string subscribers(tests::RedisClient& client) {
  std::istringstream lines(client({"CLIENT", "LIST"}).text());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool has_sharded =
        line.find(" ssub=") != std::string::npos && line.find(" ssub=0 ") == std::string::npos;
    if (has_sharded || line.find(" sub=0 ") == std::string::npos) {
      text += "\n  " + line;
    }
  }
  return text;
}

std::string channels_left(const tests::RedisServer& server) {
  std::string text;
  tests::RedisClient client = server.client();
  for (const std::string& each : client({"PUBSUB", "CHANNELS"}).list()) {
    if (!each.starts_with("__sentinel__")) text += ' ' + each;
  }
  if (server.version() >= 700) {
    for (const std::string& each : client({"PUBSUB", "SHARDCHANNELS"}).list()) text += ' ' + each;
  }
  return text.empty() ? text : text + " at one of these clients:" + subscribers(client);
}

std::string channels_left(const Deployment& deployment) {
  std::string text;
  for (const tests::RedisServer* const server : deployment.servers()) {
    text += channels_left(*server);
  }
  return text;
}

}  // namespace

std::string Leftovers::keys_left(const tests::RedisServer& server) const {
  std::string text;
  tests::RedisClient client = server.client();
  for (const std::string& key : client({"KEYS", "*"}).list()) {
    if (key.starts_with("redisson_lock_token:")) continue;  // stays, so that tokens only rise
    if (is_semaphore(key) && is_whole(client)) continue;
    const long long ttl = client({"PTTL", key}).integer();
    if (places_abandoned_ && is_queue(key) && ttl > 0) continue;
    if (ttl != -2) text += ' ' + key + " (TTL " + std::to_string(ttl) + " ms)";
  }
  return text;
}

std::string Leftovers::keys_left(const Deployment& deployment) const {
  std::string text;
  for (const tests::RedisServer* const server : deployment.servers()) text += keys_left(*server);
  return text;
}

void Leftovers::judge_resources(const WorkerPool& workers, Violations& found) {
  constexpr std::size_t tolerance = 4;
  usual_.resize(workers.size().workers);
  for (std::uint32_t worker = 0; worker < usual_.size(); ++worker) {
    Usual& usual = usual_[worker];
    const Resources used = workers.resources(worker);
    if (usual.starts != workers.starts(worker)) {
      usual = {workers.starts(worker), used};
      continue;
    }
    if (used.descriptors <= usual.most.descriptors + tolerance &&
        used.threads <= usual.most.threads + tolerance) {
      continue;
    }
    found.push_back({"descriptors or threads are left",
                     "worker " + std::to_string(worker) + ": " + std::to_string(used.descriptors) +
                         " descriptors (at first " + std::to_string(usual.most.descriptors) +
                         "), " + std::to_string(used.threads) + " threads (at first " +
                         std::to_string(usual.most.threads) + ")"});
  }
}

void Leftovers::judge(const Deployment& deployment, const WorkerPool& workers, Violations& found) {
  if (const std::string left = remaining([&] { return keys_left(deployment); }); !left.empty()) {
    found.push_back({"keys are left", left});
  }
  if (const std::string left = remaining([&] { return channels_left(deployment); });
      !left.empty()) {
    found.push_back({"subscriptions are left", left});
  }
  judge_resources(workers, found);
}

}  // namespace latchkey::chaos
