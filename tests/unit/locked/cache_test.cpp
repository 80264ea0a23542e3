// Lease::cache: as a part of a lease, in LOCKED and in policies, and who refuses it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/locked.hpp>
#include <latchkey/locks.hpp>

#include "support/refusal.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::refusal_by;
using enum LockType;

TEST(LeaseCache, IsAPartOfALease) {
  static_assert(!Lease(30s).cache(), "Options::cache counts");
  static_assert(Lease(30s).cache(0ms).cache() == 0ms, "which is something else");
  static_assert(watchdog.cache(100ms).is_watchdog() && watchdog.cache(100ms).cache() == 100ms);
  static_assert(Lease(30s).cache(1s).length(1s) == 30s);
  static_assert(Lease(30s).cache(0ms) != Lease(30s));
  static_assert(watchdog.cache(1s).held_at_most(1min).lock_delay(5s).cache() == 1s);
  EXPECT_EQ(watchdog.cache(10'900us).cache(), 10ms) << "rounded down";
  EXPECT_EQ(watchdog.cache(10s).cache(), 10s);
  static_assert(Lease(30s).cache(adaptive_cache).cache() == adaptive_cache);
  for (const auto wrong : {-1ms, 10'001ms, adaptive_cache - 1ms, adaptive_cache + 1ms}) {
    EXPECT_EQ(refusal_by<std::invalid_argument>([&] { static_cast<void>(watchdog.cache(wrong)); }),
              "cache takes a time from 0, for none, to 10 s, as in Lease(30s).cache(100ms), or "
              "latchkey::adaptive_cache");
  }
}

TEST(LeaseCache, OnlyLocksThatCanBeKeptHaveIt) {
  const Locks locks = Locks::connect("memory:");
  const auto refusal = [&](LockType type, std::chrono::milliseconds time) {
    return refusal_by<std::invalid_argument>(
        [&] { static_cast<void>(locks.lock("k", type).acquire(0ms, Lease(10s).cache(time))); });
  };
  for (const auto time : {100ms, adaptive_cache}) {
    for (const LockType type : {REENTRANT, READ, WRITE, FENCED}) {
      EXPECT_EQ(refusal(type, time), "taken") << to_string(type);
    }
    EXPECT_EQ(refusal(FAIR, time),
              "a FAIR lock is not kept after its release (Lease::cache): say another type, or no "
              "cache");
  }
  EXPECT_EQ(refusal(FAIR, 0ms), "taken") << "it asks for nothing";
}

TEST(OptionsCache, IsATimeInItsRangeOrLearned) {
  for (const auto right : {0ms, 10'000ms, adaptive_cache}) {
    EXPECT_NO_THROW(static_cast<void>(Locks::connect("memory:", {.cache = right})));
  }
  for (const auto wrong : {-1ms, 10'001ms}) {
    EXPECT_EQ(
        refusal_by<std::invalid_argument>(
            [&] { static_cast<void>(Locks::connect("memory:", {.cache = wrong})); }),
        "Options::cache is between 0 (no lock is kept) and 10 s, or latchkey::adaptive_cache");
  }
}

// All users of memory: are in this process, and see that the lock is free.
TEST(LeaseCache, MeansNothingInMemory) {
  const Locks locks = Locks::connect("memory:");
  Hold hold = locks.lock("k", FENCED).acquire(0ms, Lease(10s).cache(1s));
  const std::uint64_t token = hold.fencing_token().value();
  EXPECT_TRUE(hold.release());
  EXPECT_FALSE(locks.inspect("k").locked);
  EXPECT_EQ(locks.lock("k", FENCED).acquire(0ms, 10s).fencing_token(), token + 1);
}

TEST(LockedCache, RejectsATimeOutOfRange) {
  const Locks locks = Locks::connect("memory:");
  EXPECT_THROW(LOCKED("k").in(locks).cache(-1ms) AROUND(){}, std::invalid_argument);
  EXPECT_THROW(LOCKED("k").in(locks).cache(11s) AROUND(){}, std::invalid_argument);
  EXPECT_EQ(LOCKED("k").in(locks).cache(100ms) AROUND() { return 1; }, 1);
  EXPECT_EQ(LOCKED("k").in(locks).cache(adaptive_cache) AROUND() { return 1; }, 1);
}

TEST(PolicyCache, TheFileComesBeforeTheCodeAndTheCodeBeforeTheDefaults) {
  detail::LockTerms plain = detail::make_terms(WRITE, 3s, watchdog);
  detail::LockTerms said = plain;
  said.lease = watchdog.cache(1s);
  detail::SitePolicy policy;
  policy.defaults.cache = 2s;
  EXPECT_EQ(detail::under_policy(plain, policy).lease, watchdog.cache(2s));
  EXPECT_EQ(detail::under_policy(said, policy).lease, watchdog.cache(1s));
  policy.over.cache = 0s;
  EXPECT_EQ(detail::under_policy(said, policy).lease, watchdog.cache(0s));
  policy.over.cache = adaptive_cache;
  EXPECT_EQ(detail::under_policy(said, policy).lease, watchdog.cache(adaptive_cache));
  policy.over.cache = 3s;
  policy.over.shared_with_redisson = true;
  EXPECT_EQ(detail::under_policy(said, policy).lease, watchdog.cache(0s));
}

TEST(PolicyCache, TheDefaultsAreForLocksThatCanBeKept) {
  detail::SitePolicy policy;
  policy.defaults.cache = 2s;
  const detail::LockTerms terms = detail::make_terms(FAIR, 3s, watchdog);
  EXPECT_EQ(detail::under_policy(terms, policy).lease, watchdog);
  detail::LockTerms said = detail::make_terms(WRITE, 3s, watchdog);
  said.lease = watchdog.cache(1s);
  detail::SitePolicy other_type = policy;
  other_type.over.type = FAIR;
  EXPECT_EQ(detail::under_policy(said, other_type).lease, watchdog);
}

}  // namespace
}  // namespace latchkey
