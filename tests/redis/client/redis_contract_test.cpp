// The contract of every backend, on a real server.
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "redis/redis_backend.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

/// One server for the whole suite; keys are never used twice.
RedisServer& server() {
  static RedisServer running;
  return running;
}

std::string next_key(const char* shape) {
  static std::atomic<int> last{0};
  return shape + std::to_string(++last);
}

struct OverTcp {
  std::unique_ptr<Backend> backend() {
    return detail::redis::make_redis_backend(server().tcp_uri(), options());
  }
  std::string fresh_key() { return next_key("key:"); }
  // sleeps: leases on a real server take real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

/// Like OverTcp, over a Unix socket and with a name that is its own hash tag.
struct OverUnixSocket : OverTcp {
  std::unique_ptr<Backend> backend() {
    return detail::redis::make_redis_backend(server().unix_uri(), options());
  }
  std::string fresh_key() { return next_key("{key}:"); }
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(RedisTcp, ::latchkey::tests::OverTcp);
LATCHKEY_BACKEND_CONTRACT(RedisUnixSocket, ::latchkey::tests::OverUnixSocket);
