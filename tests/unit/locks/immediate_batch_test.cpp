// Several keys in one process whose Locks have no listener: they are acquired at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/manual_clock.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;
using Keys = std::vector<std::string>;

/// Has no listener, with which every acquire would be a call.
class ImmediateBatchTest : public ::testing::Test {
 protected:
  [[nodiscard]] Hold both(const Locks& by, Attempt attempt = {}) const {
    return by.acquire_all(Keys{"b", "a"}, attempt);
  }
  [[nodiscard]] std::optional<Hold> try_both(const Locks& by, LockType type) const {
    Attempt attempt;
    attempt.type = type;
    attempt.wait = 0ms;
    return by.try_acquire_all(Keys{"b", "a"}, attempt);
  }

  latchkey::testing::ManualClock clock;
  Locks locks = Locks::connect("memory:immediate_batch", {.clock = &clock});
  Locks another = locks.with_owner(Owner::make());
  Locks elsewhere = Locks::connect("memory:immediate_batch", {.clock = &clock});
};

TEST_F(ImmediateBatchTest, AHoldHasAllKeysInTheirOrder) {
  Hold hold = both(locks);
  EXPECT_EQ(hold.key(), "a, b");
  EXPECT_EQ(hold.id(),
            locks.inspect("a").holders.at(0).id + "," + locks.inspect("b").holders.at(0).id);
  EXPECT_TRUE(hold.covers("a") && hold.covers("b"));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(locks.list().empty());
  EXPECT_FALSE(hold.release());
}

TEST_F(ImmediateBatchTest, AKeyThatIsHeldLeavesTheOtherOneFree) {
  for (const Locks& holder : {another, elsewhere}) {
    const Hold held = holder.lock("b", LockType::WRITE).acquire(forever);
    EXPECT_FALSE(try_both(locks, LockType::WRITE));
    EXPECT_THAT(locks.list(), ElementsAre("b"));
    EXPECT_TRUE(another.lock("a", LockType::WRITE).try_acquire());
  }
  EXPECT_TRUE(try_both(locks, LockType::WRITE));
}

TEST_F(ImmediateBatchTest, ReadersOfOtherLocksShareTheKeys) {
  const Hold read = elsewhere.lock("b", LockType::READ).acquire(forever);
  EXPECT_TRUE(try_both(locks, LockType::READ));
  EXPECT_FALSE(try_both(locks, LockType::WRITE));
}

TEST_F(ImmediateBatchTest, AnOwnerReenters) {
  const Hold outer = both(locks);
  const Hold inner = both(locks);
  EXPECT_FALSE(try_both(another, LockType::REENTRANT));
}

TEST_F(ImmediateBatchTest, FencedKeysGetOneTokenThatRises) {
  Attempt attempt;
  attempt.type = LockType::FENCED;
  Hold first = both(locks, attempt);
  const auto token = first.fencing_token("a");
  ASSERT_TRUE(token);
  EXPECT_EQ(first.fencing_token("b"), token);
  EXPECT_TRUE(first.release());
  EXPECT_GT(both(locks, attempt).fencing_token("b"), token);
}

TEST_F(ImmediateBatchTest, APrefixStandsBeforeEachKeyInTheBackend) {
  const Locks prefixed =
      Locks::connect("memory:immediate_batch", {.prefix = "shop:", .clock = &clock});
  const Hold hold = both(prefixed);
  EXPECT_EQ(hold.key(), "a, b");
  EXPECT_TRUE(prefixed.inspect("a").locked);
  EXPECT_FALSE(locks.inspect("a").locked);
  EXPECT_TRUE(locks.inspect("shop:a").locked);
}

TEST_F(ImmediateBatchTest, AWrongKeyIsAKeyError) {
  const std::string too_long(1'025, 'k');
  EXPECT_THROW(static_cast<void>(locks.acquire_all(Keys{"a", ""}, Attempt{})), KeyError);
  EXPECT_THROW(static_cast<void>(locks.acquire_all(Keys{"a", too_long}, Attempt{})), KeyError);
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(ImmediateBatchTest, AKeyThatIsNamedTwiceIsHeldOnce) {
  EXPECT_EQ(locks.acquire_all(Keys{"b", "a", "b"}, Attempt{}).key(), "a, b");
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(ImmediateBatchTest, ClosedLocksGrantNothing) {
  locks.close(0ms);
  EXPECT_THROW(static_cast<void>(both(locks)), Closed);
  EXPECT_TRUE(elsewhere.list().empty());
}

TEST_F(ImmediateBatchTest, TheWatchdogRenewsAllKeys) {
  Attempt attempt;
  attempt.lease = watchdog;
  const Hold hold = both(locks, attempt);
  for (int turn = 0; turn < 12; ++turn) {
    ASSERT_TRUE(clock.await_sleepers(1));
    clock.advance(10s);
  }
  EXPECT_FALSE(hold.lost());
}

TEST_F(ImmediateBatchTest, AWaiterGetsAKeyThatIsReleased) {
  std::optional<Hold> hold = both(locks);
  auto waiting = std::async(std::launch::async, [&] { return another.lock("b").acquire(forever); });
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
  EXPECT_TRUE(hold->release());
  const Hold next = waiting.get();
  EXPECT_EQ(next.key(), "b");
  EXPECT_TRUE(another.lock("a").try_acquire());
}

TEST_F(ImmediateBatchTest, AReleaseSaysThatOneKeyWasLost) {
  Hold hold = both(locks);
  EXPECT_TRUE(locks.force_release("b"));
  EXPECT_FALSE(hold.release());
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(ImmediateBatchTest, AHoldThatReusesARecordHasItsOwnStopToken) {
  Attempt attempt;
  attempt.lease = 1s;
  Hold first = both(locks, attempt);
  const std::stop_token stopped = first.stop_token();
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(2s);
  EXPECT_TRUE(first.lost());
  EXPECT_FALSE(first.release());
  const Hold second = both(locks);
  EXPECT_FALSE(second.stop_token().stop_requested());
  EXPECT_FALSE(second.lost());
}

TEST_F(ImmediateBatchTest, ManyKeysAreHeldToo) {
  for (const int count : {8, 9, 40}) {
    Keys keys;
    for (int index = 0; index < count; ++index) keys.push_back("k" + std::to_string(100 + index));
    const Hold hold = locks.acquire_all(keys, Attempt{});
    EXPECT_THAT(locks.list(), UnorderedElementsAreArray(keys));
  }
  EXPECT_TRUE(locks.list().empty());
}

}  // namespace
}  // namespace latchkey
