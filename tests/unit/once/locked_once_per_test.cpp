// LOCKED_ONCE_PER: in methods, callables and compositions.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "unit/once/once_fixture.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using latchkey::testing::ManualClock;
using latchkey::testing::ScopedLocks;

struct Region {
  std::string name;
};

struct Reports {
  int sent = 0;

  void send(const Region& region) {
    LOCKED_ONCE_PER("report:{region.name}", 15min) AROUND(region) { ++sent; };
  }
  std::optional<int> count(int day) {
    return LOCKED_ONCE_PER("count:{day}", 15min) AROUND(day)->std::optional<int> { return ++sent; };
  }
  DECORATED(LOCKED_ONCE_PER("decorated:{day}", 15min), std::unique_ptr<int>, make, (int) day) {
    return std::make_unique<int>(day);
  }
};

class LockedOncePerTest : public ::testing::Test {
 protected:
  ManualClock clock;
  ScopedLocks locks{Options{.clock = &clock}};
  Reports reports;
};

TEST_F(LockedOncePerTest, RunsAMethodOnceForEachKeyAndInstant) {
  for (int call = 0; call < 3; ++call) {
    reports.send({"north"});
    reports.send({"south"});
  }
  EXPECT_EQ(reports.sent, 2);
  clock.advance(15min);
  reports.send({"north"});
  EXPECT_EQ(reports.sent, 3);
}

TEST_F(LockedOncePerTest, TheResultSaysWhetherItRan) {
  EXPECT_EQ(reports.count(1), 1);
  EXPECT_EQ(reports.count(1), std::nullopt);
  EXPECT_EQ(*reports.make(7), 7);
  EXPECT_EQ(reports.make(7), nullptr);
}

TEST_F(LockedOncePerTest, MakesACallable) {
  int runs = 0;
  const auto nightly = LOCKED_ONCE_PER("nightly:{0}", 24h, {.offset = 3h})([&](int) { ++runs; });
  nightly(1);
  nightly(1);
  nightly(2);
  EXPECT_EQ(runs, 2);
}

TEST_F(LockedOncePerTest, StandsBesideALock) {
  int id = 4, runs = 0;
  const auto call = [&] {
    LOCKED_ONCE_PER("outer:{id}", 15min) | LOCKED("inner:{id}") AROUND(id) { ++runs; };
  };
  call();
  call();
  EXPECT_EQ(runs, 1);
}

TEST_F(LockedOncePerTest, AnExceptionOfTheBodyFreesTheInstant) {
  int day = 1;
  const auto call = [&](bool fails) {
    bool ran = false;
    LOCKED_ONCE_PER("failing:{day}", 15min) AROUND(day) {
      if (fails) throw std::runtime_error("once more");
      ran = true;
    };
    return ran;
  };
  EXPECT_THROW(call(true), std::runtime_error);
  EXPECT_TRUE(call(false));
  EXPECT_FALSE(call(false));
}

TEST_F(LockedOncePerTest, UsesOtherLocksAndHasANamedSite) {
  const Locks others = Locks::connect("memory:", {.clock = &clock});
  int day = 1, runs = 0;
  for (int call = 0; call < 2; ++call) {
    LOCKED_ONCE_PER("other:{day}", 15min).in(others).named("other job") AROUND(day) { ++runs; };
  }
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(others.list("latchkey_once:other:1:*").empty());
  EXPECT_TRUE(locks.locks().list("latchkey_once:other:*").empty());
  bool found = false;
  for (const Site& site : sites()) {
    if (site.notes() == nullptr || site.notes()->kind != "LOCKED_ONCE_PER") continue;
    found |= site.notes()->text == "other:{day}" && site.name() == "other job";
  }
  EXPECT_TRUE(found) << "a listing shows it";
}

// Nobody could tell which method it was: its events and those of its lock had no site.
TEST_F(LockedOncePerTest, EventsNameTheMethod) {
  reports.send({"north"});
  reports.send({"north"});
  ASSERT_TRUE(locks.locks().flush(tests::patience));
  std::size_t of_runs = 0, of_locks = 0;
  for (const Event& event : locks.events()) {
    EXPECT_TRUE(event.method().ends_with("Reports::send")) << to_string(event.kind);
    if (event.kind == Event::Kind::once_ran || event.kind == Event::Kind::once_taken) {
      EXPECT_EQ(event.key, "report:north");
      EXPECT_EQ(event.origin.key_template, "report:{region.name}");
      ++of_runs;
    } else {
      EXPECT_EQ(event.origin.key_template, "latchkey_once:{key}:{instant}");
      ++of_locks;
    }
  }
  EXPECT_EQ(of_runs, 2U);
  EXPECT_EQ(of_locks, 5U) << "attempt, granted, and renewed to mark it; attempt and taken";
}

TEST(LockedOncePer, WithoutLocksSaysWhatToWrite) {
  int day = 1;
  const auto call = [&] { LOCKED_ONCE_PER("nowhere:{day}", 15min) AROUND(day){}; };
  EXPECT_THROW(call(), NotConfigured);
}

}  // namespace
}  // namespace latchkey
