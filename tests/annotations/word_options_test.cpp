// The options and outcomes of a lock that LOCK_ANNOTATED takes.
#include <latchkey/annotations.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/testing/scoped_locks.hpp>

#include "support/failing_backend.hpp"

namespace annotated_options_test {

using namespace std::chrono_literals;
using latchkey::Hold;
using latchkey::LockType;
using latchkey::strategy::skip;
using latchkey::strategy::skip_with;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;

/// The key that the innermost call of this thread holds.
std::string held_key() {
  const Hold* const hold = latchkey::current_hold();
  return hold == nullptr ? "" : std::string(hold->key());
}

/// The bodies count their runs.
struct Strategies {
  int runs = 0;

  [[= latchkey::locked("busy", LockType::WRITE, 0ms).on_timeout(skip)]] std::optional<int> skips() {
    LOCK_ANNOTATED;
    return ++runs;
  }
  [[= latchkey::locked("busy", LockType::WRITE, 0ms).on_timeout(skip)]] void skips_void() {
    LOCK_ANNOTATED;
    ++runs;
  }
  [[= latchkey::locked("busy", LockType::WRITE, 0ms).on_timeout(skip_with(-1))]] int skips_with() {
    LOCK_ANNOTATED;
    return ++runs;
  }
  [[= latchkey::locked("busy", LockType::WRITE, 0ms)
          .on_timeout(latchkey::strategy::fallback([](int given) { return -given; }))]] int
  falls_back(int given) {
    LOCK_ANNOTATED;
    return ++runs + given;
  }
  [[= latchkey::locked("busy", LockType::WRITE, 0ms)
          .on_timeout(latchkey::strategy::run_unlocked_dangerously)]] int
  runs_unlocked() {
    LOCK_ANNOTATED;
    return ++runs;
  }
  [[= latchkey::locked("busy", LockType::WRITE, 0ms)]] int raises() {
    LOCK_ANNOTATED;
    return ++runs;
  }
  [[= latchkey::locked("busy", LockType::WRITE, 0ms).when([](bool wanted) { return wanted; })]] int
  locks_when(bool wanted) {
    LOCK_ANNOTATED;
    return wanted ? ++runs : 0;
  }
  [[= latchkey::locked("busy", LockType::WRITE, 0ms).when<"{wanted}">()]] int locks_when_key(
      bool wanted) {
    LOCK_ANNOTATED;
    return wanted ? ++runs : 0;
  }
  [[= latchkey::locked("slots").permits(2)]] std::string permits() {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked(KEYS("a:{x}", "b:{y}"), LockType::WRITE, 3s, 30s)]] void keys(int x, int y) {
    LOCK_ANNOTATED;
  }
  [[= latchkey::locked("again").reentry(latchkey::Reentry::refuse)]] void refuses(bool again) {
    LOCK_ANNOTATED;
    if (again) refuses(false);
  }
  [[= latchkey::locked("limited", LockType::WRITE, 3s, latchkey::watchdog)
          .held_at_most(10s)]] std::chrono::milliseconds
  limited() {
    LOCK_ANNOTATED;
    return latchkey::current_hold()->remaining();
  }
  [[= latchkey::locked("limited", LockType::WRITE, 3s,
                       latchkey::watchdog.held_at_most(10s))]] std::chrono::milliseconds
  limited_lease() {
    LOCK_ANNOTATED;
    return latchkey::current_hold()->remaining();
  }
  [[= latchkey::locked("delayed", LockType::WRITE, 3s, 30s).lock_delay(5s)]] bool delayed(
      const latchkey::Locks& locks) {
    LOCK_ANNOTATED;
    return locks.inspect("delayed").holders.front().left > 30s;
  }
  [[= latchkey::locked("kept", LockType::REENTRANT).cache(100ms)]] std::string kept_for_a_while() {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked("kept", LockType::WRITE, 3s, 30s)
          .cache(latchkey::adaptive_cache)]] std::string
  kept() {
    LOCK_ANNOTATED;
    return held_key();
  }
  [[= latchkey::locked("named").named("the name")]] std::string named() {
    LOCK_ANNOTATED;
    return held_key();
  }
};

TEST(AnnotatedWord, HonoursEachStrategyOfABusyLock) {
  const ScopedLocks locks;
  std::optional<Hold> hold;
  std::thread holder(
      [&] { hold = locks.locks().lock("busy", LockType::WRITE).acquire(latchkey::forever); });
  holder.join();
  Strategies object;
  EXPECT_EQ(object.skips(), std::nullopt);
  object.skips_void();
  EXPECT_EQ(object.skips_with(), -1);
  EXPECT_EQ(object.falls_back(5), -5);
  EXPECT_EQ(object.runs, 0);
  EXPECT_EQ(object.runs_unlocked(), 1);
  EXPECT_THROW(object.raises(), latchkey::LockTimeout);
  EXPECT_EQ(object.locks_when(false), 0);
  EXPECT_THROW(object.locks_when(true), latchkey::LockTimeout);
  EXPECT_EQ(object.locks_when_key(false), 0);
  EXPECT_THROW(object.locks_when_key(true), latchkey::LockTimeout);
  hold.reset();
  EXPECT_EQ(object.skips(), 2);
  EXPECT_EQ(object.locks_when(true), 3);
}

TEST(AnnotatedWord, HasTheOtherOptionsOfLocked) {
  const ScopedLocks locks;
  Strategies object;
  EXPECT_EQ(object.permits(), "slots");
  locks.forget();
  object.keys(1, 2);
  EXPECT_EQ(locks.taken(),
            (std::vector<Taken>{{"a:1", LockType::WRITE}, {"b:2", LockType::WRITE}}));
  object.refuses(false);
  EXPECT_THROW(object.refuses(true), latchkey::WouldDeadlock);
  EXPECT_EQ(object.named(), "named");
  for (const auto remaining : {object.limited(), object.limited_lease()}) {
    EXPECT_GT(remaining, 0s);
    EXPECT_LE(remaining, 10s);
  }
  EXPECT_TRUE(object.delayed(locks.locks())) << "the backend keeps it for longer";
  EXPECT_EQ(object.kept_for_a_while(), "kept");
  EXPECT_EQ(object.kept(), "kept");
  bool found = false;
  for (const latchkey::Site& site : latchkey::sites()) found = found || site.name() == "the name";
  EXPECT_TRUE(found);
}

struct Body {
  [[= latchkey::locked("lost", LockType::WRITE, 1s, 10s)]] int loses() {
    LOCK_ANNOTATED;
    latchkey::current_hold()->release();
    return 1;
  }
  [[= latchkey::locked("thrown")]] int throws() {
    LOCK_ANNOTATED;
    throw std::runtime_error("of the body");
  }
};

TEST(AnnotatedWord, ThrowsTheLossAfterTheBody) {
  const ScopedLocks locks;
  try {
    Body().loses();
    FAIL() << "expected LockLost";
  } catch (const latchkey::LockLost& error) {
    EXPECT_TRUE(error.body_ran());
    EXPECT_TRUE(std::string(error.what()).starts_with("annotated_options_test::Body::loses"))
        << error.what();
  }
}

struct Unconfirmed {
  latchkey::tests::Faults& faults;

  [[= latchkey::locked("reported", LockType::REENTRANT, 100ms, 10s)]] int reports() {
    LOCK_ANNOTATED;
    faults.silent = true;
    return 1;
  }
  [[= latchkey::locked("raised", LockType::REENTRANT, 100ms, 10s)
          .on_unconfirmed_release(latchkey::strategy::raise)]] int
  raises() {
    LOCK_ANNOTATED;
    faults.silent = true;
    return 1;
  }
};

TEST(AnnotatedWord, ThrowsAnUnconfirmedReleaseOnlyIfAsked) {
  latchkey::tests::Faults faults;
  const ScopedLocks locks(latchkey::Locks(std::make_unique<latchkey::tests::FailingBackend>(faults),
                                          {.unavailable_after = 200ms}));
  Unconfirmed object{faults};
  EXPECT_EQ(object.reports(), 1);
  faults.silent = false;
  EXPECT_THROW(object.raises(), latchkey::ReleaseUnconfirmed);
  faults.silent = false;
}

TEST(AnnotatedWord, ABackendThatTellsOfNobodyWhoWaitsRefusesToKeepALock) {
  latchkey::tests::Faults faults;
  const ScopedLocks locks(
      latchkey::Locks(std::make_unique<latchkey::tests::FailingBackend>(faults), {}));
  EXPECT_THROW(Strategies().kept_for_a_while(), std::invalid_argument);
}

TEST(AnnotatedWord, ReleasesBeforeTheExceptionOfTheBody) {
  const ScopedLocks locks;
  EXPECT_THROW(Body().throws(), std::runtime_error);
  EXPECT_TRUE(held_key().empty());
  std::thread([&] { EXPECT_TRUE(locks.locks().lock("thrown").try_acquire().has_value()); }).join();
}

}  // namespace annotated_options_test
