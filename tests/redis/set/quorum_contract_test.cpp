// The contract of every backend, on a quorum of three servers with SET NX PX locks: Redlock.
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/locks.hpp>
#include <latchkey/quorum.hpp>

#include "redis/redis_backend.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

struct SetQuorum {
  std::unique_ptr<Backend> backend() {
    static std::array<RedisServer, 3> servers;
    std::vector<std::unique_ptr<Backend>> members;
    for (const RedisServer& each : servers) {
      const std::string uri =
          "redis+set://127.0.0.1:" + std::to_string(each.port()) + "?format=redlock";
      members.push_back(detail::redis::make_redis_member(uri, options()));
    }
    return make_quorum(std::move(members), options());
  }
  std::string fresh_key() {
    static std::atomic<int> last{0};
    return "key:" + std::to_string(++last);
  }
  // sleeps: leases end by real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(RedisSetQuorum, ::latchkey::tests::SetQuorum);
