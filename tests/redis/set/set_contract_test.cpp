// The contract of every backend, on SET NX PX locks of a real server in all formats.
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

struct SetStore {
  explicit SetStore(const char* query) : query_(query) {}

  std::unique_ptr<Backend> backend() {
    // One server for the whole suite; keys are never used twice.
    static RedisServer server;
    const std::string uri = "redis+set://127.0.0.1:" + std::to_string(server.port()) + query_;
    return detail::redis::make_redis_backend(uri, options());
  }
  std::string fresh_key() {
    static std::atomic<int> last{0};
    return "key:" + std::to_string(++last);
  }
  // sleeps: leases end by real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }

 private:
  const char* query_;
};

struct SetOfHoldIds : SetStore {
  SetOfHoldIds() : SetStore("") {}
};
struct SetOfRedlock : SetStore {
  static constexpr bool shows_ids = false;
  SetOfRedlock() : SetStore("?format=redlock") {}
};
struct SetOfRedsync : SetStore {
  static constexpr bool shows_ids = false;
  SetOfRedsync() : SetStore("/3?format=redsync") {}
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(RedisSet, ::latchkey::tests::SetOfHoldIds);
LATCHKEY_BACKEND_CONTRACT(RedisSetRedlock, ::latchkey::tests::SetOfRedlock);
LATCHKEY_BACKEND_CONTRACT(RedisSetRedsync, ::latchkey::tests::SetOfRedsync);
