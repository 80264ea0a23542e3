// READs and WRITEs of one key in different processes: neither starves the other.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// Clients with a connection each, as in processes of their own.
class ReadWriteTurns : public ::testing::Test {
 protected:
  /// Threads of a process lock again and again until stop_after(). A hold takes 2 ms, so that the
  /// READs of several threads overlap without a gap.
  void start_process(int threads, LockType type, std::atomic<std::uint64_t>& grants) {
    const Locks client = Locks::connect(server_.unix_uri());
    for (int thread = 0; thread < threads; ++thread) start(client, type, grants);
  }
  void stop_after(std::chrono::milliseconds time) {
    std::this_thread::sleep_for(time);  // sleeps: turns are counted in this time
    threads_.clear();
  }

 private:
  void start(const Locks& client, LockType type, std::atomic<std::uint64_t>& grants) {
    threads_.emplace_back([&grants, client, type](const std::stop_token& stopped) {
      while (!stopped.stop_requested()) {
        const Hold hold = client.lock("k", type).acquire(30s, 30s);
        ++grants;
        std::this_thread::sleep_for(2ms);  // sleeps: this is the time inside the lock
      }
    });
  }

  RedisServer server_;
  std::vector<std::jthread> threads_;
};

// Without turns the WRITE is granted only if all eight READs happen to have ended.
TEST_F(ReadWriteTurns, OverlappingReadsDoNotStarveAWrite) {
  std::atomic<std::uint64_t> reads{0}, writes{0};
  for (int process = 0; process < 2; ++process) start_process(4, LockType::READ, reads);
  start_process(1, LockType::WRITE, writes);
  stop_after(2s);
  EXPECT_GE(writes * 4 * 8, reads) << "a quarter of a turn for each turn of eight READs";
  EXPECT_GE(reads, 100U);
}

TEST_F(ReadWriteTurns, WritesOfTwoProcessesDoNotStarveAReader) {
  std::atomic<std::uint64_t> reads{0}, writes{0};
  for (int process = 0; process < 2; ++process) start_process(2, LockType::WRITE, writes);
  start_process(1, LockType::READ, reads);
  stop_after(2s);
  EXPECT_GE(reads * 4 * 4, writes);
}

}  // namespace
}  // namespace latchkey::tests
