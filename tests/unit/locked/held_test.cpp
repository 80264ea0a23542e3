// current_hold() and assert_held(): the holds of the calling thread's decorated calls.
#include <latchkey/held.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace {

struct Account {
  int id;
};

class Held : public ::testing::Test {
 protected:
  latchkey::testing::ScopedLocks scope_{latchkey::Locks::connect("memory:")};
};

TEST_F(Held, IsNullOutsideOfADecoratedCall) {
  EXPECT_EQ(latchkey::current_hold(), nullptr);
  const latchkey::Hold own = scope_.locks().acquire("mine", {});
  EXPECT_THROW(latchkey::assert_held("mine"), latchkey::NotHeld) << "only decorated calls count";
}

TEST_F(Held, IsTheInnermostCallOfThisThread) {
  LOCKED("outer") AROUND() {
    LOCKED("inner") AROUND() { EXPECT_EQ(latchkey::current_hold()->key(), "inner"); };
    EXPECT_EQ(latchkey::current_hold()->key(), "outer");
    std::thread([] { EXPECT_EQ(latchkey::current_hold(), nullptr); }).join();
  };
}

TEST_F(Held, AssertsKeysOfAllEnclosingCalls) {
  const Account account{4};
  LOCKED("account:{account.id}") AROUND(account) {
    LOCKED("inner") AROUND() {
      ASSERT_HELD("account:{account.id}", account);
      ASSERT_HELD("inner");
      latchkey::assert_held("account:4");
      const Account other{5};
      try {
        latchkey::assert_held<"account:{other.id}", "other">(other);
        ADD_FAILURE();
      } catch (const latchkey::NotHeld& error) {
        EXPECT_STREQ(error.what(), "no decorated call of this thread holds 'account:5'");
        EXPECT_EQ(error.key(), "account:5");
      }
    };
  };
}

TEST_F(Held, DoesNotCountLostHolds) {
  LOCKED("lost").on_lost(latchkey::strategy::report) AROUND() {
    EXPECT_TRUE(latchkey::current_hold()->release());
    try {
      latchkey::assert_held("lost");
      ADD_FAILURE() << "it was lost";
    } catch (const latchkey::NotHeld& error) {
      EXPECT_STREQ(error.what(), "the decorated call of this thread that holds 'lost' has lost it");
    }
  };
}

}  // namespace
