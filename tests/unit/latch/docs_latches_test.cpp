// The snippets of docs/semaphores.md and of count_down_latch.hpp.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/locks.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

TEST(DocsLatches, TheWorkersOfThePageStart) {
  const Locks locks = Locks::connect("memory:");
  // clang-format off: the page's own lines
  const latchkey::CountDownLatch started = locks.count_down_latch("workers:started");
  started.try_set_count(4);  // false: another process was faster
  // clang-format on
  std::vector<std::thread> workers;
  for (int each = 0; each < 4; ++each) {
    workers.emplace_back([&] {
      // clang-format off: the page's own line
      started.count_down();
      // clang-format on
    });
  }
  const auto wait = [&] {
    // clang-format off: the page's own line
    if (!started.wait_for(30s)) throw std::runtime_error("a worker is missing");
    // clang-format on
  };
  EXPECT_NO_THROW(wait());
  EXPECT_EQ(started.count(), 0U);
  for (std::thread& each : workers) each.join();
}

TEST(DocsLatches, TheLatchOfTheHeaderOpens) {
  const Locks locks = Locks::connect("memory:");
  const CountDownLatch three = locks.count_down_latch("workers:started");
  ASSERT_TRUE(three.try_set_count(1));  // as if three of the workers had counted down
  const auto use = [&] {
    // clang-format off: the header's own lines
    latchkey::CountDownLatch started = locks.count_down_latch("workers:started");
    started.try_set_count(4);
    // in each of four workers:
    started.count_down();
    // whoever needs all of them:
    if (!started.wait_for(30s)) throw std::runtime_error("a worker is missing");
    // clang-format on
  };
  EXPECT_NO_THROW(use());
}

}  // namespace
}  // namespace latchkey
