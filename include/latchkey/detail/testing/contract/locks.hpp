// The backend contract, as the user of Locks sees it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <latchkey/detail/testing/contract/locks_fixture.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1::testing::contract {

TYPED_TEST_SUITE_P(BackendLocks);

TYPED_TEST_P(BackendLocks, TwoLocksExcludeEachOther) {
  auto one = this->locks(), other = this->locks();
  Probe probe = this->connect();
  for (const LockType type : this->exclusive(probe.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    {
      Hold hold = one.lock(key, type).acquire(this->no_wait, this->long_lease);
      EXPECT_FALSE(hold.lost());
      EXPECT_EQ(hold.type(), type);
      EXPECT_EQ(hold.fencing_token().has_value(), type == LockType::FENCED);
      EXPECT_FALSE(other.lock(key, type).try_acquire(this->no_wait, this->long_lease));
      this->leave_scope(hold);
    }
    EXPECT_TRUE(this->takes(other.lock(key, type)));
  }
}

TYPED_TEST_P(BackendLocks, ReentryIsCounted) {
  auto one = this->locks(), other = this->locks();
  Probe probe = this->connect();
  for (const LockType type : this->exclusive(probe.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    auto lock = one.lock(key, type);
    Hold outer = lock.acquire(this->no_wait, this->long_lease);
    Hold inner = lock.acquire(this->no_wait, this->long_lease);
    EXPECT_EQ(inner.fencing_token(), outer.fencing_token());
    EXPECT_TRUE(inner.release());
    EXPECT_FALSE(other.lock(key, type).try_acquire(this->no_wait, this->long_lease));
    EXPECT_TRUE(outer.release());
    EXPECT_TRUE(this->takes(other.lock(key, type)));
  }
}

TYPED_TEST_P(BackendLocks, AnotherTypeWouldDeadlockExceptAReadInsideAWrite) {
  auto one = this->locks();
  Probe probe = this->connect();
  LATCHKEY_DETAIL_OFFERED(probe.offers().read_write && probe.offers().reentrant, "READ and WRITE");
  {
    Hold plain = one.lock(this->name).acquire(this->no_wait, this->long_lease);
    EXPECT_THROW(
        static_cast<void>(
            one.lock(this->name, LockType::READ).try_acquire(this->no_wait, this->long_lease)),
        WouldDeadlock);
  }
  auto both = one.read_write(this->name);
  {
    Hold write = both.write().acquire(this->no_wait, this->long_lease);
    Hold read = both.read().acquire(this->no_wait, this->long_lease);
    EXPECT_TRUE(read.release());
    EXPECT_TRUE(write.release());
  }
  Hold read = both.read().acquire(this->no_wait, this->long_lease);
  EXPECT_THROW(static_cast<void>(both.write().try_acquire(this->no_wait, this->long_lease)),
               WouldDeadlock);
}

TYPED_TEST_P(BackendLocks, AWriteReleasedFirstKeepsItsRead) {
  auto one = this->locks(), other = this->locks();
  Probe probe = this->connect();
  LATCHKEY_DETAIL_OFFERED(probe.offers().read_write, "READ and WRITE");
  auto mine = one.read_write(this->name), theirs = other.read_write(this->name);
  Hold write = mine.write().acquire(this->no_wait, this->long_lease);
  Hold read = mine.read().acquire(this->no_wait, this->long_lease);
  EXPECT_TRUE(write.release());
  EXPECT_FALSE(theirs.write().try_acquire(this->no_wait, this->long_lease));
  EXPECT_TRUE(this->takes(theirs.read()));
  EXPECT_TRUE(read.release());
  EXPECT_TRUE(this->takes(theirs.write()));
}

TYPED_TEST_P(BackendLocks, LocksAndHoldsAreCountedSeparately) {
  auto one = this->locks(), other = this->locks();
  auto lock = one.lock(this->name);
  lock.lock();
  {
    Hold hold = lock.acquire(this->no_wait, this->long_lease);
    EXPECT_TRUE(lock.release());
    EXPECT_THROW(lock.release(), NotOwner);  // never what acquire() gave
    EXPECT_FALSE(hold.lost());
    EXPECT_FALSE(other.lock(this->name).try_lock());
    this->leave_scope(hold);
  }
  auto theirs = other.lock(this->name);
  EXPECT_TRUE(theirs.try_lock());
  EXPECT_TRUE(theirs.release());
}

TYPED_TEST_P(BackendLocks, ATimeoutNamesTheBusyLockAndTheWait) {
  auto one = this->locks(), other = this->locks();
  const Hold hold = one.lock(this->name).acquire(this->no_wait, this->long_lease);
  this->while_time_passes([&] {
    try {
      const Hold never = other.lock(this->name).acquire(this->lease, this->lease);
      ADD_FAILURE() << "granted twice";
    } catch (const LockTimeout& timeout) {
      EXPECT_EQ(timeout.key(), std::string(hold.key()));
      EXPECT_EQ(timeout.type(), LockType::REENTRANT);
      EXPECT_EQ(timeout.backend(), other.describe());
      EXPECT_GE(timeout.waited(), this->lease);
      EXPECT_NE(std::string(timeout.what()).find("was busy for the whole wait"), std::string::npos);
    }
  });
}

TYPED_TEST_P(BackendLocks, AReleaseGrantsTheLockToAWaiter) {
  auto one = this->locks(), other = this->locks();
  Probe probe = this->connect();
  for (const LockType type : this->exclusive(probe.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    auto hold =
        std::make_unique<Hold>(one.lock(key, type).acquire(this->no_wait, this->long_lease));
    std::atomic<bool> granted = false;
    std::thread waiter([&] {
      const Hold next = other.lock(key, type).acquire(forever, this->long_lease);
      granted = true;
    });
    EXPECT_FALSE(granted);
    hold.reset();
    this->while_time_passes([&] { waiter.join(); });
    EXPECT_TRUE(granted);
  }
}

TYPED_TEST_P(BackendLocks, ExpiredFairLeasesArePassedOnInOrderAndInTime) {
  auto one = this->locks(), other = this->locks();
  Probe probe = this->connect();
  LATCHKEY_DETAIL_OFFERED(probe.offers().fair && probe.offers().administration, "FAIR, inspect");
  const Options options = this->store.options();
  Clock& clock = options.clock != nullptr ? *options.clock : Clock::system();
  constexpr std::size_t owners = 8;
  const milliseconds in_time = this->lease + std::chrono::seconds(1);
  Hold first = one.lock(this->name, LockType::FAIR).acquire(this->no_wait, this->long_lease);
  std::vector<std::optional<Hold>> holds(owners);
  std::vector<Clock::time_point> granted(owners);
  std::vector<std::thread> waiters;
  for (std::size_t at = 0; at < owners; ++at) {
    waiters.emplace_back([&, at] {
      auto& locks = at % 2 == 0 ? other : one;
      holds[at] = locks.lock(this->name, LockType::FAIR).try_acquire(owners * in_time, this->lease);
      granted[at] = clock.now();
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (probe.inspect(this->name).queue.size() <= at && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(milliseconds(1));
  }
  Clock::time_point last = clock.now();
  EXPECT_TRUE(first.release());
  this->while_time_passes([&] {
    for (std::thread& each : waiters) each.join();
  });
  for (std::size_t at = 0; at < owners; ++at) {  // no owner releases: each lease expires
    EXPECT_TRUE(holds[at]) << at;
    EXPECT_GE(granted[at], last) << at << " came before its turn";
    EXPECT_LT(granted[at] - last, in_time) << at;
    last = granted[at];
  }
}

// hold_for of LOCKED. The process that set it may have ended long before.
TYPED_TEST_P(BackendLocks, AKeyKeptByHoldForIsFreedInTimeWithoutItsLocks) {
  auto other = this->locks();
  Probe probe = this->connect();
  LATCHKEY_DETAIL_OFFERED(probe.offers().expires, "expire");
  for (const bool closes : {false, true}) {
    for (const LockType type : this->types(probe.offers())) {
      SCOPED_TRACE(std::string(to_string(type)) + (closes ? ", closed" : ""));
      const std::string key = this->store.fresh_key();
      Clock::time_point released;
      {
        auto one = this->locks();
        Hold hold = one.lock(key, type).acquire(this->no_wait);
        released = other.clock().now();
        hold.hold_for(this->lease);
        EXPECT_TRUE(hold.release());
        if (closes) one.close(this->no_wait);
      }
      const LockType all = probe.offers().read_write ? LockType::WRITE : LockType::REENTRANT;
      const LockType next = type == LockType::READ ? all : type;
      const bool busy = !other.lock(key, next).try_acquire(this->no_wait, this->long_lease);
      EXPECT_TRUE(busy || other.clock().now() - released >= this->lease);
      this->pass(this->lease + this->unit);
      EXPECT_TRUE(this->takes(other.lock(key, next)));
    }
  }
}

// The watchdog renews a lease with held_at_most no longer.
TYPED_TEST_P(BackendLocks, AHoldIsLostWhenItsLeaseOrHeldAtMostEnds) {
  auto one = this->locks(), other = this->locks();
  for (const Lease wanted : {Lease(this->lease), watchdog.held_at_most(this->lease)}) {
    SCOPED_TRACE(wanted.is_watchdog() ? "held_at_most" : "lease");
    const std::string key = this->store.fresh_key();
    Hold hold = one.lock(key).acquire(this->no_wait, wanted);
    EXPECT_GT(hold.remaining(), milliseconds(0));
    EXPECT_TRUE(!wanted.is_watchdog() || !hold.extend(this->long_lease));
    if (TestFixture::observes) this->pass(this->lease / 2);  // then the last renewal is seen, too
    EXPECT_TRUE(!TestFixture::observes || !this->takes(other.lock(key)));
    this->pass(this->lease + 2 * this->unit);
    EXPECT_TRUE(hold.lost());
    EXPECT_EQ(hold.remaining(), milliseconds(0));
    EXPECT_FALSE(hold.extend(this->lease));
    const auto next = other.lock(key).try_acquire(this->no_wait, this->long_lease);
    ASSERT_TRUE(next);
    EXPECT_FALSE(hold.release());
    EXPECT_FALSE(next->lost());
  }
}

TYPED_TEST_P(BackendLocks, ExtendMovesTheDeadline) {
  auto one = this->locks(), other = this->locks();
  Hold hold = one.lock(this->name).acquire(this->no_wait, this->lease);
  EXPECT_TRUE(hold.extend(this->long_lease));
  EXPECT_TRUE(hold.extend(this->lease));  // never shortens
  EXPECT_GT(hold.remaining(), this->long_lease / 2);
  this->pass(this->lease + this->unit);
  EXPECT_FALSE(hold.lost());
  EXPECT_FALSE(other.lock(this->name).try_acquire(this->no_wait, this->lease));
  EXPECT_TRUE(hold.release());
}

TYPED_TEST_P(BackendLocks, EachThreadIsAnOwner) {
  auto one = this->locks();
  const Hold hold = one.lock(this->name).acquire(this->no_wait, this->long_lease);
  std::thread([&] {
    EXPECT_FALSE(one.lock(this->name).try_acquire(this->no_wait, this->lease));
    EXPECT_THROW(one.lock(this->name).release(), NotOwner);
  }).join();
}

TYPED_TEST_P(BackendLocks, LocksInspectListAndForceRelease) {
  auto one = this->locks();
  Probe probe = this->connect();
  LATCHKEY_DETAIL_OFFERED(probe.offers().administration, "inspect, list and force_release");
  Hold hold = one.lock(this->name).acquire(this->no_wait, this->long_lease);
  EXPECT_TRUE(one.inspect(this->name).locked);
  const auto names = one.list("*");
  EXPECT_NE(std::find(names.begin(), names.end(), std::string(hold.key())), names.end());
  EXPECT_TRUE(one.force_release(this->name));
  EXPECT_FALSE(one.force_release(this->name));
  EXPECT_FALSE(hold.release());
}

TYPED_TEST_P(BackendLocks, ReleaseHolderEndsTheHoldOfThatHolderOnly) {
  auto one = this->locks(), other = this->locks();
  Probe probe = this->connect();
  LATCHKEY_DETAIL_OFFERED(probe.offers().administration, "inspect, list and force_release");
  LATCHKEY_DETAIL_OFFERED(this->shows_ids, "holders by their ids");
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::WRITE, LockType::READ, LockType::FENCED}) {
    if (!probe.offers().offers(type)) continue;
    const std::string stranger = HoldId{{1, 2}, 3}.text();
    EXPECT_FALSE(other.release_holder(this->name, stranger)) << to_string(type);
    Hold hold = one.lock(this->name, type).acquire(this->no_wait, this->long_lease);
    EXPECT_FALSE(other.release_holder(this->name, stranger)) << to_string(type);
    EXPECT_THROW(other.release_holder(this->name, "me"), std::invalid_argument);
    const std::vector<LockInfo> infos =
        other.inspect_all(std::vector<std::string>{this->name, this->name + ".free"});
    ASSERT_EQ(infos.size(), 2U);
    EXPECT_TRUE(infos[0].locked) << to_string(type);
    EXPECT_FALSE(infos[1].locked) << to_string(type);
    EXPECT_TRUE(other.release_holder(this->name, hold.id())) << to_string(type);
    EXPECT_FALSE(other.release_holder(this->name, hold.id())) << to_string(type);
    EXPECT_FALSE(other.inspect(this->name).locked) << to_string(type);
    EXPECT_FALSE(hold.release()) << to_string(type);
  }
}

REGISTER_TYPED_TEST_SUITE_P(BackendLocks, TwoLocksExcludeEachOther, ReentryIsCounted,
                            AnotherTypeWouldDeadlockExceptAReadInsideAWrite,
                            AWriteReleasedFirstKeepsItsRead, LocksAndHoldsAreCountedSeparately,
                            ATimeoutNamesTheBusyLockAndTheWait, AReleaseGrantsTheLockToAWaiter,
                            ExpiredFairLeasesArePassedOnInOrderAndInTime,
                            AKeyKeptByHoldForIsFreedInTimeWithoutItsLocks,
                            AHoldIsLostWhenItsLeaseOrHeldAtMostEnds, ExtendMovesTheDeadline,
                            EachThreadIsAnOwner, LocksInspectListAndForceRelease,
                            ReleaseHolderEndsTheHoldOfThatHolderOnly);

}  // namespace latchkey::inline v1::testing::contract
