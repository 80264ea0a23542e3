// The contract of every backend, on deployments of several servers.
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "redis/redis_backend.hpp"
#include "support/servers/redis_cluster.hpp"
#include "support/servers/sentinel_group.hpp"

namespace latchkey::tests {
namespace {

std::string next_key() {
  static std::atomic<int> last{0};
  return "key:" + std::to_string(++last);
}

/// No server fails here. One that a busy machine keeps waiting shall not be taken for failed.
constexpr std::chrono::seconds patience{15};

/// Keys of all nodes, wake-ups by sharded channels.
struct OverCluster {
  std::unique_ptr<Backend> backend() {
    static RedisCluster cluster({.replicas = 0, .node_timeout = patience});
    return detail::redis::make_redis_backend(cluster.uri(), options());
  }
  std::string fresh_key() { return next_key(); }
  // sleeps: leases end by real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

/// A master found by its name, whose replicas confirm.
struct OverSentinels {
  std::unique_ptr<Backend> backend() {
    static SentinelGroup group({.replicas = 1, .quorum = 2, .down_after = patience});
    return detail::redis::make_redis_backend(group.uri() + "?min_replicas=1", options());
  }
  std::string fresh_key() { return next_key(); }
  // sleeps: leases end by real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(RedisCluster, ::latchkey::tests::OverCluster);
LATCHKEY_BACKEND_CONTRACT(RedisSentinels, ::latchkey::tests::OverSentinels);
