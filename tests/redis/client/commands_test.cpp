// The cost of an uncontended lock: one EVALSHA to acquire, one to release, and no allocation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <latchkey/locks.hpp>

#include "support/allocations.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RedisCommands : public ::testing::TestWithParam<LockType> {
 protected:
  /// How many commands the server has executed since, without those inside scripts.
  std::vector<std::string> commands() {
    client_({"ECHO", "the end"});
    std::vector<std::string> seen;
    while (const auto line = monitor_.receive(5s)) {
      if (line->text().find("\"the end\"") != std::string::npos) break;
      if (line->text().find(" lua]") == std::string::npos) seen.push_back(line->text());
    }
    return seen;
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
  RedisClient monitor_ = server_.client();
};

TEST_P(RedisCommands, OneCommandPerAcquireAndReleaseNoneForReentry) {
  const Locks locks = Locks::connect(server_.unix_uri());
  Lock lock = locks.lock("k", GetParam());
  static_cast<void>(lock.acquire(forever));  // the server knows the scripts now
  monitor_({"MONITOR"});
  lock.lock();
  const auto acquire = commands();
  ASSERT_EQ(acquire.size(), 1U);
  EXPECT_THAT(acquire[0], HasSubstr("\"EVALSHA\""));
  {
    lock.lock();
    const auto inner = lock.acquire(0s);
    lock.unlock();
  }
  EXPECT_THAT(commands(), IsEmpty());
  lock.unlock();
  const auto release = commands();
  ASSERT_EQ(release.size(), 1U);
  EXPECT_THAT(release[0], HasSubstr("\"EVALSHA\""));
}

TEST_P(RedisCommands, AScriptFlushCostsOneMoreCommand) {
  const Locks locks = Locks::connect(server_.unix_uri());
  Lock lock = locks.lock("k", GetParam());
  static_cast<void>(lock.acquire(forever));
  client_({"SCRIPT", "FLUSH"});
  monitor_({"MONITOR"});
  const auto hold = lock.acquire(forever);
  const auto acquire = commands();
  ASSERT_EQ(acquire.size(), 2U);
  EXPECT_THAT(acquire[0], HasSubstr("\"EVALSHA\""));
  EXPECT_THAT(acquire[1], HasSubstr("\"EVAL\""));
}

TEST_P(RedisCommands, AWarmLockAllocatesNothing) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer has a heap of its own";
  const Locks locks = Locks::connect(server_.tcp_uri());
  Lock lock = locks.lock(std::string(64, 'k'), GetParam());
  const auto pair = [&] {
    lock.lock();
    lock.unlock();
    Hold hold = lock.acquire(1s, 60s);
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(lock.try_acquire().has_value());
  };
  // Warms the caches up: a call record is allocated only while all earlier ones are in use.
  for (int round = 0; round < 200; ++round) pair();
  // The timer thread, which wakes up four times a second while there are holds, may read a reply,
  // and then keeps the record that this thread would use again. So batches are short.
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (int batch = 0; batch < 200 && least > 0; ++batch) {
    const std::size_t before = allocations();
    for (int round = 0; round < 100; ++round) pair();
    least = std::min(least, allocations() - before);
  }
  EXPECT_EQ(least, 0U) << "in each of 200 batches";
}

INSTANTIATE_TEST_SUITE_P(Types, RedisCommands,
                         ::testing::Values(LockType::REENTRANT, LockType::FAIR, LockType::READ,
                                           LockType::WRITE, LockType::FENCED),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace latchkey::tests
