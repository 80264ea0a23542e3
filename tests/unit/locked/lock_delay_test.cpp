// .lock_delay of LOCKED, in code and in policies.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/error.hpp>
#include <latchkey/held.hpp>
#include <latchkey/locked.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;

class LockedLockDelay : public ::testing::Test, public tests::ManualLocks {
 protected:
  template <class Body>
  void report(int day, Body&& body) {
    LOCKED("report:{day}", LockType::WRITE, 3s, 10s)
        .in(locks)
        .named("report")
        .lock_delay(5s) AROUND(day) {
      body();
    };
  }
  bool is_free() {
    return another().lock("report:7", LockType::WRITE).try_acquire(0ms, 30s).has_value();
  }
};

TEST_F(LockedLockDelay, KeepsTheLockFromOthersUntilABodyThatLostItEnds) {
  const auto call = [&] {
    report(7, [&] {
      clock.advance(14'999ms);
      EXPECT_TRUE(current_hold()->lost());
      EXPECT_FALSE(is_free());
    });
  };
  try {
    call();
    FAIL() << "nothing was thrown";
  } catch (const LockLost& lost) {
    const std::string what = lost.what();
    EXPECT_NE(what.find("lease 10000 ms, lock delay 5000 ms"), what.npos) << what;
  }
  EXPECT_TRUE(is_free()) << "the body has ended";
}

TEST_F(LockedLockDelay, ABodyInTimeFreesTheLockAtOnce) {
  report(7, [] {});
  EXPECT_TRUE(is_free());
}

TEST_F(LockedLockDelay, GoesWithHeldAtMostAndHoldForInAnyOrder) {
  LOCKED("k", LockType::WRITE, 3s, watchdog)
      .in(locks)
      .lock_delay(5s)
      .held_at_most(10s)
      .hold_for(1s) AROUND() {
    EXPECT_LE(current_hold()->remaining(), 10s);
  };
  EXPECT_FALSE(another().lock("k", LockType::WRITE).try_acquire(0ms, 30s)) << "hold_for";
  clock.advance(1s);
  EXPECT_TRUE(another().lock("k", LockType::WRITE).try_acquire(1s, 30s));
}

TEST_F(LockedLockDelay, RejectsATimeOutOfRange) {
  EXPECT_THROW(LOCKED("k").in(locks).lock_delay(0s) AROUND(){}, std::invalid_argument);
  EXPECT_THROW(LOCKED("k").in(locks).lock_delay(25h) AROUND(){}, std::invalid_argument);
}

TEST(PolicyLockDelay, TheFileComesBeforeTheCodeAndTheCodeBeforeTheDefaults) {
  detail::LockTerms plain = detail::make_terms(LockType::WRITE, 3s, watchdog);
  detail::LockTerms said = plain;
  said.lease = watchdog.lock_delay(1s);
  detail::SitePolicy policy;
  policy.defaults.lock_delay = 2s;
  EXPECT_EQ(detail::under_policy(plain, policy).lease, watchdog.lock_delay(2s));
  EXPECT_EQ(detail::under_policy(said, policy).lease, watchdog.lock_delay(1s));
  policy.over.lock_delay = 3s;
  EXPECT_EQ(detail::under_policy(said, policy).lease, watchdog.lock_delay(3s));
  policy = {};
  policy.over.lease = Lease(2min);
  EXPECT_EQ(detail::under_policy(said, policy).lease, Lease(2min).lock_delay(1s))
      << "another lease changes nothing about it";
}

}  // namespace
}  // namespace latchkey
