// LOCKED with several keys: KEYS, and a key for each element.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/latchkey.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

struct Account {
  int id;
};
using Names = std::vector<std::string>;

class KeysTest : public ::testing::Test {
 protected:
  Names move(const Account& from, const Account& to) {
    return LOCKED(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE, 0ms, 30s)
        AROUND(from, to) {
      ASSERT_HELD("account:{from.id}", from);
      ASSERT_HELD("account:{to.id}", to);
      return locks.list();
    };
  }
  Names all(const std::vector<int>& ids) {
    return LOCKED("account:{ids[*]}", LockType::READ, 0ms, 30s) AROUND(ids) {
      ASSERT_HELD("account:{ids[*]}", ids);
      return locks.list();
    };
  }

  testing::ManualClock clock;
  Locks locks = Locks::connect("memory:", {.prefix = "app:", .clock = &clock});
  testing::ScopedLocks scope{locks};
};

TEST_F(KeysTest, AreAllHeldInsideAndNoneAfterwards) {
  EXPECT_EQ(move({7}, {3}), (Names{"account:3", "account:7"}));
  EXPECT_EQ(move({5}, {5}), Names{"account:5"});
  EXPECT_EQ(all({9, 8, 9}), (Names{"account:8", "account:9"}));
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(KeysTest, AnEmptyListIsAKeyError) { EXPECT_THROW(all({}), KeyError); }

TEST_F(KeysTest, MixWithStarsAndOtherArguments) {
  const auto work = [&](const std::vector<int>& ids, int extra) {
    return LOCKED(KEYS("a:{ids[*]}", "b:{extra}", "c")) AROUND(ids, extra) { return locks.list(); };
  };
  EXPECT_EQ(work({2, 1}, 4), (Names{"a:1", "a:2", "b:4", "c"}));
}

TEST_F(KeysTest, ABusyKeyTimesOutAndNothingStaysLocked) {
  const Hold theirs = locks.with_owner(Owner::make()).lock("account:3").acquire(forever);
  try {
    move({7}, {3});
    FAIL() << "account 3 is busy";
  } catch (const LockTimeout& error) {
    EXPECT_EQ(error.key(), "account:3");
  }
  EXPECT_EQ(locks.list(), Names{"account:3"});
}

TEST_F(KeysTest, StrategiesApplyToAllKeysTogether) {
  const Hold theirs = locks.with_owner(Owner::make()).lock("b").acquire(forever);
  bool ran = false;
  LOCKED(KEYS("a", "b"), LockType::WRITE, 0ms).on_timeout(strategy::skip) AROUND() { ran = true; };
  EXPECT_FALSE(ran);
  const int given =
      LOCKED(KEYS("a", "b"), LockType::WRITE, 0ms).on_timeout(strategy::skip_with(7)) AROUND() {
    return 1;
  };
  EXPECT_EQ(given, 7);
}

TEST_F(KeysTest, OneHoldCoversAllKeys) {
  LOCKED(KEYS("a", "b"), LockType::WRITE, 0ms, 10s) AROUND() {
    ASSERT_NE(current_hold(), nullptr);
    EXPECT_EQ(current_hold()->key(), "a, b");
    EXPECT_EQ(current_hold()->remaining(), 9'900ms);
    EXPECT_TRUE(current_hold()->extend(60s));
    EXPECT_TRUE(current_hold()->covers("a"));
    EXPECT_THROW(ASSERT_HELD("c"), NotHeld);
    // Nested calls of the same keys, alone or together, are re-entries.
    const int inner =
        LOCKED("b", LockType::WRITE, 0ms) | LOCKED(KEYS("b", "a"), LockType::WRITE, 0ms) AROUND() {
      return 5;
    };
    EXPECT_EQ(inner, 5);
  };
}

TEST_F(KeysTest, LosingOneKeyLosesAll) {
  try {
    LOCKED(KEYS("a", "b"), LockType::WRITE, 0ms, 3s) AROUND() {
      clock.advance(3s);
      EXPECT_THROW(ASSERT_HELD("a"), NotHeld);
    };
    FAIL() << "the lease is over";
  } catch (const LockLost& error) {
    EXPECT_EQ(error.key(), "a, b");
  }
}

TEST_F(KeysTest, HoldForKeepsAllKeys) {
  LOCKED(KEYS("a", "b"), LockType::WRITE, 0ms, 30s).hold_for(5s) AROUND() { clock.advance(2s); };
  EXPECT_EQ(locks.list(), (Names{"a", "b"}));
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(3s);
  ASSERT_TRUE(clock.await_sleepers(1));
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(KeysTest, ASiteListsTheKeysThatItLocks) {
  move({1}, {2});
  const SiteList known = sites();
  const bool registered = std::any_of(known.begin(), known.end(), [](const Site& site) {
    return site.notes() != nullptr && site.notes()->text == "account:{from.id}, account:{to.id}";
  });
  EXPECT_TRUE(registered);
}

TEST_F(KeysTest, OppositeDirectionsNeverDeadlock) {
  const Locks real = Locks::connect("memory:");
  int money[2] = {100, 100};
  const auto transfer = [&](int from, int to) {
    for (int round = 0; round < 300; ++round) {
      LOCKED(KEYS("account:{0}", "account:{1}"), LockType::WRITE, forever, 30s)
          .in(real)AROUND(from, to) {
        --money[from];
        ++money[to];
      };
    }
  };
  std::thread there([&] { transfer(0, 1); });
  std::thread back([&] { transfer(1, 0); });
  there.join();
  back.join();
  EXPECT_EQ(money[0], 100);
  EXPECT_EQ(money[1], 100);
}

}  // namespace
}  // namespace latchkey
