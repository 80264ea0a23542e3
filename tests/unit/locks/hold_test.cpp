// Hold: each row of its state table, and its operations.
#include <latchkey/hold.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

#include <latchkey/error.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

static_assert(!std::is_copy_constructible_v<Hold>);
static_assert(std::is_nothrow_move_constructible_v<Hold>);
static_assert(std::is_nothrow_move_assignable_v<Hold>);
static_assert(std::is_nothrow_destructible_v<Hold>);

class HoldTest : public ::testing::Test, public ManualLocks {};

void expect_empty(Hold& hold) {
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(hold.release());
  hold.hold_for(1s);
  EXPECT_FALSE(hold.extend(1s));
  EXPECT_EQ(hold.key(), "");
  EXPECT_EQ(hold.type(), LockType::REENTRANT);
  EXPECT_EQ(hold.remaining(), 0ms);
  EXPECT_EQ(hold.fencing_token(), std::nullopt);
  EXPECT_TRUE(hold.stop_token().stop_requested());
}

TEST_F(HoldTest, IsHeldThenReleasedThenEmpty) {
  Hold hold = locks.lock("k", LockType::FAIR).acquire(0ms, 10s);
  EXPECT_FALSE(hold.lost());
  EXPECT_EQ(hold.key(), "k");
  EXPECT_EQ(hold.type(), LockType::FAIR);
  EXPECT_TRUE(hold.stop_token().stop_possible());
  EXPECT_FALSE(hold.stop_token().stop_requested());
  EXPECT_TRUE(hold.release());
  expect_empty(hold);
  EXPECT_FALSE(locks.inspect("k").locked);
}

TEST_F(HoldTest, IsLostAtItsDeadlineThenEmpty) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  clock.advance(10s - 100ms - 1ns);
  EXPECT_FALSE(hold.lost());
  clock.advance(1ns);
  EXPECT_TRUE(hold.lost());
  EXPECT_EQ(hold.remaining(), 0ms);
  EXPECT_FALSE(hold.extend(10s));
  EXPECT_EQ(hold.key(), "k");
  EXPECT_FALSE(hold.release());
  expect_empty(hold);
  EXPECT_TRUE(recorder.await(Kind::lost));
}

TEST_F(HoldTest, IsLostByTheBackendThenEmpty) {
  Hold hold = locks.lock("k").acquire(0ms, 9s);
  ASSERT_TRUE(locks.force_release("k"));
  EXPECT_FALSE(hold.lost());  // not detected yet
  pass(3s);
  ASSERT_TRUE(recorder.await(Kind::lost));
  EXPECT_TRUE(hold.lost());
  EXPECT_EQ(hold.remaining(), 0ms);
  EXPECT_FALSE(hold.release());
  expect_empty(hold);
}

TEST_F(HoldTest, ReleaseOfALostHoldReturnsFalseAndNotifiesTheListener) {
  Hold hold = locks.lock("k").acquire(0ms, 9s);
  ASSERT_TRUE(locks.force_release("k"));
  EXPECT_FALSE(hold.release());
  EXPECT_TRUE(recorder.await(Kind::lost));
  expect_empty(hold);
}

TEST_F(HoldTest, IsEmptyAfterAMove) {
  Hold first = locks.lock("a").acquire(forever);
  Hold second = std::move(first);
  expect_empty(first);  // NOLINT: a moved-from hold is empty
  EXPECT_FALSE(second.lost());
  Hold third = locks.lock("b").acquire(forever);
  third = std::move(second);  // releases what it held
  EXPECT_EQ(third.key(), "a");
  EXPECT_FALSE(locks.inspect("b").locked);
  EXPECT_TRUE(locks.inspect("a").locked);
  Hold& same = third;
  third = std::move(same);
  EXPECT_FALSE(third.lost());
}

TEST_F(HoldTest, MayBeDestroyedOnAnotherThread) {
  auto made = std::async(std::launch::async, [&] { return locks.lock("k").acquire(forever); });
  Hold hold = made.get();
  EXPECT_FALSE(hold.lost());
  std::thread([mine = std::move(hold)] { EXPECT_FALSE(mine.lost()); }).join();
  EXPECT_FALSE(locks.inspect("k").locked);
  EXPECT_EQ(recorder.count(Kind::abandoned), 0U);
}

TEST_F(HoldTest, ExtendMovesTheDeadlineForwardOnly) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  EXPECT_TRUE(hold.extend(60s));
  EXPECT_EQ(hold.remaining(), 60s - 600ms);
  EXPECT_TRUE(hold.extend(1s));
  EXPECT_EQ(hold.remaining(), 60s - 600ms);
  pass(30s);
  EXPECT_TRUE(hold.extend(60s));
  EXPECT_EQ(hold.remaining(), 60s - 600ms);
  EXPECT_THROW(hold.extend(9ms), std::invalid_argument);
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
}

TEST_F(HoldTest, HoldForKeepsTheKeyForThatLong) {
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  hold.hold_for(5s);
  hold.hold_for(1s);  // never shortens
  EXPECT_TRUE(hold.release());
  expect_empty(hold);
  EXPECT_TRUE(locks.inspect("k").locked);
  EXPECT_FALSE(locks.lock("k").try_lock());  // not for its last holder either
  auto next = std::async(std::launch::async, [&] { return locks.lock("k").acquire(forever); });
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(5s);
  EXPECT_FALSE(next.get().lost());
}

TEST_F(HoldTest, HoldForCountsFromTheCall) {
  {
    Hold both = locks.all_of({locks.lock("a"), locks.lock("b")}).acquire(0ms, 30s);
    both.hold_for(5s);
    pass(3s);
  }
  EXPECT_EQ(locks.list().size(), 2U) << "the destructor keeps them, too";
  pass(2s);
  EXPECT_TRUE(tests::eventually([&] { return locks.list().empty(); }));
  Hold late = locks.lock("k").acquire(0ms, 30s);
  late.hold_for(5s);
  pass(6s);
  EXPECT_TRUE(late.release());
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(HoldTest, HoldForEndsWithTheLeaseAtTheLatest) {
  Hold hold = locks.lock("k").acquire(0ms, 2s);
  hold.hold_for(1h);
  EXPECT_TRUE(hold.release());
  pass(2s);
  EXPECT_TRUE(tests::eventually([&] { return !locks.inspect("k").locked; }));
  EXPECT_EQ(recorder.count(Kind::lost), 0U);
}

TEST_F(HoldTest, AStopTokenTakenBeforeTheLossIsStoppedByIt) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  const std::stop_token token = hold.stop_token();
  std::promise<std::thread::id> stopped;
  const std::stop_callback callback(token, [&] { stopped.set_value(std::this_thread::get_id()); });
  EXPECT_EQ(hold.stop_token(), token);
  pass(10s);
  auto where = stopped.get_future();
  ASSERT_EQ(where.wait_for(tests::patience), std::future_status::ready);
  ASSERT_TRUE(recorder.await(Kind::lost));
  EXPECT_EQ(recorder.threads(), std::set{where.get()});  // the notifier's thread, and no other
  EXPECT_TRUE(token.stop_requested());
}

TEST_F(HoldTest, AStopTokenTakenAfterTheLossIsStopped) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  clock.advance(10s);
  ASSERT_TRUE(hold.lost());
  EXPECT_TRUE(tests::eventually([&] { return hold.stop_token().stop_requested(); }));
}

TEST_F(HoldTest, AReleaseDoesNotRequestAStop) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  const std::stop_token token = hold.stop_token();
  EXPECT_TRUE(hold.release());
  Hold again = locks.lock("k").acquire(0ms, 10s);  // perhaps in the same memory
  pass(10s);
  ASSERT_TRUE(recorder.await(Kind::lost));
  EXPECT_FALSE(token.stop_requested());
}

TEST_F(HoldTest, FencingTokensRise) {
  std::uint64_t last = 0;
  for (int round = 0; round < 200; ++round) {
    Hold hold = (round % 2 == 0 ? locks : another()).lock("k", LockType::FENCED).acquire(forever);
    ASSERT_GT(hold.fencing_token().value_or(0), last);
    last = *hold.fencing_token();
  }
  Hold outer = locks.lock("k", LockType::FENCED).acquire(forever);
  Hold inner = locks.lock("k", LockType::FENCED).acquire(forever);
  EXPECT_EQ(outer.fencing_token(), inner.fencing_token());
  EXPECT_EQ(locks.inspect("k").fencing_token, outer.fencing_token());
}

TEST_F(HoldTest, OnlyFencedHoldsHaveAToken) {
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE}) {
    EXPECT_EQ(locks.lock("k", type).acquire(forever).fencing_token(), std::nullopt);
  }
}

TEST_F(HoldTest, ReentrantHoldsMayBeReleasedInAnyOrder) {
  Hold outer = locks.lock("k").acquire(0ms, 30s);
  Hold inner = locks.lock("k").acquire(0ms, 10s);
  EXPECT_TRUE(outer.release());
  EXPECT_FALSE(inner.lost());
  EXPECT_TRUE(locks.inspect("k").locked);
  EXPECT_TRUE(inner.release());
  EXPECT_FALSE(locks.inspect("k").locked);
}

}  // namespace
}  // namespace latchkey
