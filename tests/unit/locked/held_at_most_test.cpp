// .held_at_most of LOCKED, in code and in policies.
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
#include "support/refusal.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::refusal_by;

class LockedHeldAtMost : public ::testing::Test, public tests::ManualLocks {
 protected:
  template <class Body>
  void report(int day, Body&& body) {
    LOCKED("report:{day}", LockType::WRITE, 3s, watchdog)
        .in(locks)
        .named("report")
        .held_at_most(40s) AROUND(day) {
      body();
    };
  }
};

TEST_F(LockedHeldAtMost, ABodyThatTakesLongerLosesItsLockAndTheErrorSaysWhy) {
  try {
    report(7, [&] {
      for (int turn = 0; turn < 4; ++turn) {
        EXPECT_FALSE(current_hold()->lost());
        pass(10s);
      }
      EXPECT_TRUE(current_hold()->lost());
    });
    FAIL() << "nothing was thrown";
  } catch (const LockLost& lost) {
    EXPECT_TRUE(lost.held_too_long());
    EXPECT_EQ(lost.held(), 40s);
    EXPECT_TRUE(lost.body_ran());
    const std::string what = lost.what();
    EXPECT_TRUE(what.starts_with("report (")) << what;
    EXPECT_NE(what.find("was held for longer than held_at_most allows"), what.npos) << what;
    EXPECT_NE(what.find("lease watchdog, held at most 40000 ms"), what.npos) << what;
  }
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
  const Event event = recorder.of(Event::Kind::lost).front();
  EXPECT_TRUE(event.held_too_long);
  EXPECT_EQ(event.method(), "report");
}

TEST_F(LockedHeldAtMost, ABodyInTimeKeepsItsLock) {
  report(7, [&] {
    for (int turn = 0; turn < 3; ++turn) pass(10s);
  });
  EXPECT_EQ(recorder.count(Event::Kind::lost), 0U);
}

TEST_F(LockedHeldAtMost, ShortensTheLeaseThatLockedDoesNotName) {
  LOCKED("k").in(locks).held_at_most(10s) AROUND() {
    EXPECT_LE(current_hold()->remaining(), 10s);
    EXPECT_GT(current_hold()->remaining(), 9s);
  };
}

TEST_F(LockedHeldAtMost, SeveralKeysHaveIt) {
  const auto call = [&] {
    LOCKED(KEYS("a", "b"), LockType::WRITE, 3s, watchdog).in(locks).held_at_most(5s) AROUND() {
      pass(5s);
      EXPECT_TRUE(current_hold()->lost());
    };
  };
  try {
    call();
    FAIL() << "nothing was thrown";
  } catch (const LockLost& lost) {
    EXPECT_TRUE(lost.held_too_long());
  }
}

TEST_F(LockedHeldAtMost, ContradictionsAreErrors) {
  EXPECT_EQ(refusal_by<std::invalid_argument>([&] {
              LOCKED("k", LockType::WRITE, 3s, 30s).in(locks).held_at_most(10s) AROUND(){};
            }),
            "held_at_most (10000 ms) is shorter than the lease (30000 ms): say a shorter lease, or "
            "latchkey::watchdog");
  const std::string hold_for =
      "hold_for (20000 ms) is longer than held_at_most (10000 ms), which ends it earlier: say a "
      "shorter time";
  EXPECT_EQ(refusal_by<std::invalid_argument>([&] {
              LOCKED("k", LockType::WRITE, 3s, watchdog)
                  .in(locks)
                  .held_at_most(10s)
                  .hold_for(20s) AROUND(){};
            }),
            hold_for);
  EXPECT_EQ(refusal_by<std::invalid_argument>([&] {
              LOCKED("k", LockType::WRITE, 3s, watchdog)
                  .in(locks)
                  .hold_for(20s)
                  .held_at_most(10s) AROUND(){};
            }),
            hold_for);
  EXPECT_NE(refusal_by<std::invalid_argument>([&] {
              LOCKED("k").in(locks).held_at_most(0s) AROUND(){};
            }).find("10 ms"),
            std::string::npos);
}

TEST(PolicyHeldAtMost, TheFileComesBeforeTheCodeAndTheCodeBeforeTheDefaults) {
  detail::LockTerms plain = detail::make_terms(LockType::WRITE, 3s, watchdog);
  detail::LockTerms said = plain;
  said.lease = watchdog.held_at_most(1min);
  detail::SitePolicy policy;
  policy.defaults.held_at_most = 2min;
  EXPECT_EQ(detail::under_policy(plain, policy).lease, watchdog.held_at_most(2min));
  EXPECT_EQ(detail::under_policy(said, policy).lease, watchdog.held_at_most(1min));
  policy.over.held_at_most = 3min;
  EXPECT_EQ(detail::under_policy(said, policy).lease, watchdog.held_at_most(3min));
  policy = {};
  policy.over.lease = Lease(2min);
  const Lease lease = detail::under_policy(said, policy).lease;
  EXPECT_EQ(lease.length(0ms), 2min);
  EXPECT_EQ(lease.held_at_most(), 1min) << "the shorter one ends the hold";
}

TEST_F(LockedHeldAtMost, EndsALongerLeaseOfAnotherPlace) {
  const Hold hold =
      locks.acquire("k", {.type = LockType::WRITE, .lease = detail::limit_lease(1h, 10s)});
  EXPECT_LE(hold.remaining(), 10s);
  clock.advance(10s);
  EXPECT_TRUE(hold.lost());
}

}  // namespace
}  // namespace latchkey
