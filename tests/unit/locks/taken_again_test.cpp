// A key that one thread takes and gives back again and again: each hold is one of its own, although
// the record of the last one is used for it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <stop_token>
#include <string>

#include <latchkey/locks.hpp>
#include <latchkey/testing/manual_clock.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

/// Locks without a listener, which would have each call go through its coordinator's queue.
class TakenAgain : public ::testing::Test {
 protected:
  /// After some of these the record of the last hold is kept.
  void take_and_give_back(LockType type = LockType::REENTRANT, Lease lease = 30s) {
    for (int round = 0; round < 4; ++round) {
      EXPECT_TRUE(locks.lock("k", type).acquire(0ms, lease).release());
    }
  }
  void pass(Clock::duration length) {
    clock.await_sleepers(1);
    clock.advance(length);
    clock.await_sleepers(1);
  }

  testing::ManualClock clock;
  Locks locks = Locks::connect("memory:", {.clock = &clock});
  Locks others = locks.with_owner(Owner::make());
};

TEST_F(TakenAgain, EachHoldHasAnIdOfItsOwn) {
  std::set<std::string> ids;
  for (std::size_t round = 1; round <= 10; ++round) {
    Hold hold = locks.lock("k").acquire(0ms, 30s);
    ids.insert(hold.id());
    EXPECT_EQ(ids.size(), round);
    EXPECT_EQ(locks.inspect("k").holders.at(0).id, hold.id());
  }
}

TEST_F(TakenAgain, EachHoldHasTheWholeLease) {
  take_and_give_back();
  for (int round = 0; round < 4; ++round) {
    clock.advance(7s + 2ns);
    Hold hold = locks.lock("k").acquire(0ms, 30s);
    EXPECT_EQ(hold.remaining(), 30s - 300ms);
    clock.advance(30s - 300ms - 2ns);
    EXPECT_FALSE(hold.lost());
    clock.advance(2ns);
    EXPECT_TRUE(hold.lost());
    EXPECT_FALSE(hold.release());
  }
}

TEST_F(TakenAgain, AnotherLeaseOrTypeIsThatOfTheCall) {
  take_and_give_back(LockType::WRITE, 30s);
  EXPECT_EQ(locks.lock("k", LockType::WRITE).acquire(0ms, 10s).remaining(), 10s - 100ms);
  take_and_give_back(LockType::WRITE, 10s);
  Hold read = locks.lock("k", LockType::READ).acquire(0ms, 10s);
  EXPECT_TRUE(others.lock("k", LockType::READ).try_acquire().has_value());
  EXPECT_FALSE(others.lock("k", LockType::WRITE).try_acquire().has_value());
  EXPECT_TRUE(read.release());
  take_and_give_back(LockType::READ, 10s);
  Hold fenced = locks.lock("k", LockType::FENCED).acquire(0ms, 10s);
  EXPECT_TRUE(fenced.fencing_token().has_value());
}

TEST_F(TakenAgain, TheWatchdogRenewsEachHold) {
  take_and_give_back(LockType::REENTRANT, watchdog);
  Hold hold = locks.lock("k").acquire(0ms);
  for (int round = 0; round < 10; ++round) pass(10s);
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
  take_and_give_back(LockType::REENTRANT, watchdog);
  hold = locks.lock("k").acquire(0ms, 30s);
  for (int round = 0; round < 3; ++round) pass(10s);
  EXPECT_TRUE(hold.lost()) << "a lease with an end is not renewed";
}

TEST_F(TakenAgain, AStopOfALostHoldIsNotThatOfTheNext) {
  take_and_give_back();
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  const std::stop_token first = hold.stop_token();
  EXPECT_TRUE(hold.release());
  hold = locks.lock("k").acquire(0ms, 30s);
  const std::stop_token second = hold.stop_token();
  EXPECT_NE(first, second);
  pass(31s);
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(first.stop_requested());
}

TEST_F(TakenAgain, WhatHappensToOneHoldDoesNotHappenToTheNext) {
  take_and_give_back();
  Hold hold = locks.lock("k").acquire(0ms, 30s);
  EXPECT_TRUE(hold.extend(60s));
  Hold inner = locks.lock("k").acquire(0ms, 30s);
  EXPECT_TRUE(inner.release());
  EXPECT_TRUE(hold.release());
  take_and_give_back();
  hold = locks.lock("k").acquire(0ms, 30s);
  EXPECT_EQ(hold.remaining(), 30s - 300ms);
  hold.hold_for(5s);
  EXPECT_TRUE(hold.release());
  EXPECT_FALSE(others.lock("k").try_acquire().has_value()) << "it is kept locked";
  pass(5s);
  EXPECT_TRUE(others.lock("k").try_acquire().has_value());
}

TEST_F(TakenAgain, AKeyThatAnotherOwnerHoldsIsBusy) {
  take_and_give_back();
  Hold theirs = others.lock("k").acquire(0ms, 30s);
  EXPECT_FALSE(locks.lock("k").try_acquire().has_value());
  EXPECT_TRUE(theirs.release());
  Lock lock = locks.lock("k");
  for (int round = 0; round < 4; ++round) {
    lock.lock();
    EXPECT_FALSE(others.lock("k").try_acquire().has_value());
    EXPECT_TRUE(lock.try_lock()) << "its owner re-enters";
    lock.unlock();
    EXPECT_FALSE(others.lock("k").try_acquire().has_value());
    EXPECT_TRUE(lock.release());
    EXPECT_FALSE(locks.inspect("k").locked);
  }
}

TEST_F(TakenAgain, SeveralKeysInOneStepIncludeIt) {
  take_and_give_back();
  Hold both = locks.all_of({locks.lock("j"), locks.lock("k")}).acquire(0ms, 30s);
  EXPECT_FALSE(others.lock("k").try_acquire().has_value());
  EXPECT_TRUE(both.release());
  EXPECT_TRUE(others.lock("k").try_acquire().has_value());
}

}  // namespace
}  // namespace latchkey
