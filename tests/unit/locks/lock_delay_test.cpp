// lock_delay as a part of a lease, and what other processes find after a loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <latchkey/lease.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/testing/mock_backend.hpp>

#include "support/manual_locks.hpp"
#include "support/refusal.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::NiceMock;
using tests::refusal_by;

const std::vector<std::string> keys{"a", "b"};

TEST(LockDelay, IsAPartOfALease) {
  constexpr Lease delayed = watchdog.lock_delay(5s);
  static_assert(delayed.is_watchdog() && delayed.lock_delay() == 5s);
  static_assert(Lease(watchdog).lock_delay() == 0ms);
  static_assert(Lease(30s).lock_delay(5s).length(1s) == 30s, "it is not for the holder");
  static_assert(Lease(30s).lock_delay(5s) != Lease(30s));
  static_assert(watchdog.held_at_most(10min).lock_delay(5s).held_at_most() == 10min);
  static_assert(watchdog.lock_delay(5s).held_at_most(10min).lock_delay() == 5s);
  EXPECT_EQ(watchdog.lock_delay(10'100us).lock_delay(), 11ms) << "rounded up";
}

TEST(LockDelay, RejectsTimesOutOfRange) {
  using std::chrono::nanoseconds;
  for (const nanoseconds wrong : {nanoseconds(-1), nanoseconds(0), nanoseconds(9'999'999),
                                  nanoseconds(24h) + nanoseconds(1)}) {
    EXPECT_EQ(
        refusal_by<std::invalid_argument>([&] { static_cast<void>(watchdog.lock_delay(wrong)); }),
        "lock_delay takes a time from 10 ms to 24 hours, as in Lease(30s).lock_delay(5s)");
  }
  EXPECT_EQ(Lease(24h * 3'650).lock_delay(24h).lock_delay(), 24h) << "the longest of both";
}

class LockDelayTest : public ::testing::Test, public tests::ManualLocks {
 protected:
  bool is_free(const std::string& key) {
    return another().lock(key).try_acquire(0ms, 30s).has_value();
  }
};

TEST_F(LockDelayTest, NobodyIsGrantedForThatLongAfterALoss) {
  const Hold hold = locks.lock("k").acquire(0ms, Lease(10s).lock_delay(5s));
  EXPECT_EQ(hold.remaining(), 9'900ms);
  clock.advance(10s);
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(is_free("k"));
  EXPECT_FALSE(locks.lock("k").try_acquire(0ms, 30s)) << "nor is the holder";
  clock.advance(4'999ms);
  EXPECT_FALSE(is_free("k"));
  clock.advance(1ms);
  EXPECT_TRUE(is_free("k"));
}

TEST_F(LockDelayTest, AReleaseFreesTheLockAtOnce) {
  Hold hold = locks.lock("k").acquire(0ms, Lease(10s).lock_delay(5s));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(is_free("k"));
}

TEST_F(LockDelayTest, TheReleaseOfALostHoldFreesItAtOnce) {
  Hold hold = locks.lock("k").acquire(0ms, Lease(10s).lock_delay(5s));
  clock.advance(11s);
  EXPECT_FALSE(is_free("k"));
  EXPECT_FALSE(hold.release());
  EXPECT_TRUE(is_free("k"));
}

TEST_F(LockDelayTest, FollowsALeaseThatTheWatchdogRenews) {
  const Hold hold = locks.lock("k").acquire(0ms, watchdog.held_at_most(45s).lock_delay(5s));
  for (int turn = 0; turn < 4; ++turn) pass(10s);
  clock.advance(5s);
  EXPECT_TRUE(hold.lost());
  pass(4'999ms);
  EXPECT_FALSE(is_free("k"));
  pass(1s);  // the margin of the last renewal
  EXPECT_TRUE(is_free("k"));
}

TEST_F(LockDelayTest, SeveralKeysHaveIt) {
  const Hold hold = locks.acquire_all(keys, {.lease = Lease(10s).lock_delay(5s)});
  clock.advance(14'999ms);
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(is_free("a"));
  EXPECT_FALSE(is_free("b"));
  clock.advance(1ms);
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

TEST_F(LockDelayTest, SeveralKeysBringItToAHoldThatTheyReEnter) {
  const Hold outer = locks.lock("a").acquire(0ms, 10s);
  const Hold inner = locks.acquire_all(keys, {.lease = Lease(10s).lock_delay(5s)});
  clock.advance(14'999ms);
  EXPECT_TRUE(outer.lost());
  EXPECT_FALSE(is_free("a"));
  EXPECT_FALSE(is_free("b"));
  clock.advance(1ms);
  EXPECT_TRUE(is_free("a"));
}

TEST_F(LockDelayTest, SeveralKeysUnderTheWatchdogBringItToAHoldThatTheyReEnter) {
  const Hold outer = locks.lock("a").acquire(0ms, watchdog);
  const Hold inner = locks.acquire_all(keys, {.lease = watchdog.lock_delay(5s)});
  clock.advance(34'999ms);
  EXPECT_TRUE(outer.lost());
  EXPECT_FALSE(is_free("a"));
}

TEST_F(LockDelayTest, PermitsHaveIt) {
  const Semaphore permits = locks.semaphore("s", 1);
  const Hold hold = permits.acquire(1, 0ms, Lease(10s).lock_delay(5s));
  clock.advance(14'999ms);
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(permits.try_acquire(1, 0ms, 30s));
  clock.advance(1ms);
  EXPECT_TRUE(permits.try_acquire(1, 0ms, 30s));
}

TEST_F(LockDelayTest, ClosingKeepsTheLockFromOthersWhileItsHolderMayBeWorking) {
  std::optional<Hold> hold = locks.lock("k").acquire(0ms, Lease(10s).lock_delay(5s));
  locks.close(0ms);
  EXPECT_TRUE(hold->lost());
  EXPECT_EQ(locks.inspect("k").holders.size(), 1U);
  hold.reset();
  EXPECT_TRUE(locks.inspect("k").holders.empty());
}

Locks locks_with(const Capabilities& offered) {
  auto backend = std::make_unique<NiceMock<testing::MockBackend>>();
  backend->offer(offered);
  return Locks(std::move(backend), {});
}

TEST(LockDelay, IsRefusedByAStoreWhoseHoldsEndWithASession) {
  Capabilities offered;
  offered.lifetime = Capabilities::Lifetime::per_session;
  offered.max_lease = 30s;
  const Locks locks = locks_with(offered);
  const Lease delayed = Lease(10s).lock_delay(5s);
  const std::string sentence =
      "mock: keeps no lock_delay: its holds end with the session of their process, whatever their "
      "lease; say none, or use a store whose holds end with their lease, as redis: and "
      "postgresql: do";
  const auto sentence_of = [&](Lock lock) {
    return refusal_by<std::invalid_argument>([&] { static_cast<void>(lock.acquire(1s, delayed)); });
  };
  EXPECT_EQ(sentence_of(locks.lock("a")), sentence);
  EXPECT_EQ(sentence_of(locks.all_of({locks.lock("a"), locks.lock("b")})), sentence);
  EXPECT_EQ(refusal_by<std::invalid_argument>(
                [&] { static_cast<void>(locks.acquire_all(keys, {.lease = delayed})); }),
            sentence);
}

TEST(LockDelay, IsRefusedIfTheStoreHasNoLeaseThatLong) {
  Capabilities offered;
  offered.max_lease = 60s;
  const Locks locks = locks_with(offered);
  EXPECT_EQ(refusal_by<std::invalid_argument>(
                [&] { static_cast<void>(locks.lock("a").acquire(1s, Lease(58s).lock_delay(5s))); }),
            "mock: offers no lease of 63 s, which the lease and its lock_delay are together: its "
            "longest is 60 s");
}

}  // namespace
}  // namespace latchkey
