// HERE: a LOCKED for the rest of a scope.
#include <latchkey/for_scope.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/site.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::Hold;
using latchkey::LockType;
using latchkey::strategy::skip;

struct Account {
  int id = 7;
};

class Here : public ::testing::Test {
 protected:
  /// Whether another owner acquires the key without waiting.
  [[nodiscard]] bool is_free(const std::string& key) const {
    return std::async(std::launch::async,
                      [&] { return locks().lock(key).try_acquire(0ms).has_value(); })
        .get();
  }
  [[nodiscard]] const latchkey::Locks& locks() const { return scope_.locks(); }
  latchkey::testing::ScopedLocks scope_{latchkey::Locks::connect("memory:")};
};

TEST_F(Here, HoldsForTheRestOfTheScope) {
  const Account account;
  {
    auto hold = LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s) HERE(account);
    static_assert(std::is_same_v<decltype(hold), Hold>);
    EXPECT_EQ(hold.key(), "account:7");
    EXPECT_EQ(hold.type(), LockType::WRITE);
    EXPECT_FALSE(is_free("account:7"));
  }
  EXPECT_TRUE(is_free("account:7"));
}

TEST_F(Here, ReturnAndBreakAndAnExceptionLeaveTheScope) {
  const auto early = [&](int way) {
    for (;;) {
      auto hold = LOCKED("early") HERE();
      EXPECT_FALSE(is_free("early"));
      if (way == 0) return;
      if (way == 1) break;
      throw std::runtime_error("out");
    }
  };
  early(0);
  EXPECT_TRUE(is_free("early"));
  early(1);
  EXPECT_TRUE(is_free("early"));
  EXPECT_THROW(early(2), std::runtime_error);
  EXPECT_TRUE(is_free("early"));
}

TEST_F(Here, SkipGivesAnOptional) {
  const std::optional<Hold> other =
      std::async(std::launch::async, [&] { return locks().lock("busy").try_acquire(0ms); }).get();
  auto maybe = LOCKED("busy", LockType::REENTRANT, 0s).on_timeout(skip) HERE();
  static_assert(std::is_same_v<decltype(maybe), std::optional<Hold>>);
  EXPECT_FALSE(maybe.has_value());
  if (auto hold = LOCKED("free").on_timeout(skip).on_unavailable(skip) HERE()) {
    EXPECT_EQ(hold->key(), "free");
  } else {
    ADD_FAILURE() << "a free key was skipped";
  }
  EXPECT_THROW(static_cast<void>(LOCKED("busy", LockType::REENTRANT, 0s) HERE()),
               latchkey::LockTimeout);
  EXPECT_FALSE((LOCKED("busy", LockType::REENTRANT, 0s).no_throw() HERE()).has_value());
}

TEST_F(Here, TakesSeveralKeysAndThoseOfAStar) {
  const std::vector<int> ids{3, 1};
  auto hold = LOCKED(KEYS("x:{ids[*]}", "y")) HERE(ids);
  for (const char* key : {"x:3", "x:1", "y"}) {
    EXPECT_TRUE(hold.covers(key)) << key;
    EXPECT_FALSE(is_free(key)) << key;
  }
  ASSERT_HELD("x:{ids[*]}", ids);
  ASSERT_HELD("y");
}

void needs(const Account& account) { ASSERT_HELD("account:{account.id}", account); }

TEST_F(Here, IsFoundByAssertHeldForAsLongAsItHolds) {
  const Account account;
  EXPECT_THROW(needs(account), latchkey::NotHeld);
  {
    auto hold = LOCKED("account:{account.id}") HERE(account);
    needs(account);
    LOCKED("inner") AROUND() { needs(account); };
    EXPECT_EQ(latchkey::current_hold(), nullptr) << "a scope is no call";
    std::thread([&] { EXPECT_THROW(needs(account), latchkey::NotHeld); }).join();
    Hold moved = std::move(hold);
    needs(account);
    EXPECT_TRUE(moved.release());
    EXPECT_THROW(needs(account), latchkey::NotHeld);
  }
  EXPECT_THROW(needs(account), latchkey::NotHeld);
}

TEST_F(Here, IsFoundWithThePrefixOfItsLocks) {
  const auto own = latchkey::Locks::connect("memory:", {.prefix = "app:"});
  auto hold = LOCKED("k").in(own)HERE();
  EXPECT_EQ(hold.key(), "k");
  latchkey::assert_held("k");
  EXPECT_THROW(latchkey::assert_held("app:k"), latchkey::NotHeld);
}

TEST_F(Here, MayEndOnAnotherThreadAndAfterItsOwn) {
  const Account account;
  std::optional<Hold> kept;
  std::thread([&] { kept.emplace(LOCKED("account:{account.id}") HERE(account)); }).join();
  EXPECT_FALSE(is_free("account:7"));
  EXPECT_THROW(needs(account), latchkey::NotHeld) << "it counts for the thread that asked";
  kept.reset();
  EXPECT_TRUE(is_free("account:7"));

  std::promise<Hold> handed;
  auto own = LOCKED("account:{account.id}") HERE(account);
  std::thread([&, hold = std::move(own)] { EXPECT_FALSE(hold.lost()); }).join();
  EXPECT_TRUE(is_free("account:7"));
  EXPECT_THROW(needs(account), latchkey::NotHeld);
}

TEST_F(Here, EndsInAnyOrder) {
  std::vector<Hold> holds;
  for (int id = 0; id < 100; ++id) holds.push_back(LOCKED("n:{id}") HERE(id));
  std::swap(holds[3], holds[90]);
  for (int index : {50, 3, 97}) holds.erase(holds.begin() + index);  // the last one is the last
  int held = 0;
  for (int id = 0; id < 100; ++id) {
    try {
      ASSERT_HELD("n:{id}", id);
      ++held;
    } catch (const latchkey::NotHeld&) {
    }
  }
  EXPECT_EQ(held, 97);
}

TEST_F(Here, IsReentrantAndCountsWithCalls) {
  LOCKED("again") AROUND() {
    auto hold = LOCKED("again") HERE();
    EXPECT_EQ(latchkey::current_hold()->key(), "again");
  };
  EXPECT_TRUE(is_free("again"));
  auto first = LOCKED("again") HERE();
  EXPECT_THROW(static_cast<void>(LOCKED("again").reentry(latchkey::Reentry::refuse) HERE()),
               latchkey::WouldDeadlock);
}

TEST_F(Here, IsASiteBeforeItsFirstCall) {
  const auto is_ours = [](const latchkey::Site& site) {
    return site.notes() != nullptr && site.notes()->text == "never:{account.id}";
  };
  const auto sites = latchkey::sites();
  const auto found = std::find_if(sites.begin(), sites.end(), is_ours);
  ASSERT_NE(found, sites.end());
  EXPECT_NE(found->method().find("TestBody"), std::string_view::npos) << found->method();
  EXPECT_EQ(found->argument_name(0), "account");
  EXPECT_EQ(found->result_type(), "latchkey::Hold");
  if (found->name().empty()) {
    const Account account;
    auto hold = LOCKED("never:{account.id}") HERE(account);
  }
}

TEST_F(Here, HoldForKeepsTheKeyAfterTheScope) {
  latchkey::tests::ManualLocks manual;
  const auto is_free_there = [&] {
    return manual.another().lock("slow").try_acquire(0ms).has_value();
  };
  {
    auto hold = LOCKED("slow").in(manual.locks).hold_for(10s) HERE();
  }
  EXPECT_FALSE(is_free_there());
  manual.pass(11s);
  EXPECT_TRUE(is_free_there());
  try {
    auto hold = LOCKED("slow").in(manual.locks).hold_for(10s) HERE();
    throw std::runtime_error("failed");
  } catch (const std::runtime_error&) {
    EXPECT_TRUE(is_free_there()) << "an exception gives it back at once";
  }
}

TEST_F(Here, AnErrorNamesTheScopeAndItsKeyTemplate) {
  const Account account;
  const std::optional<Hold> other = std::async(std::launch::async, [&] {
                                      return locks().lock("account:7").try_acquire(0ms);
                                    }).get();
  try {
    auto hold = LOCKED("account:{account.id}", LockType::REENTRANT, 0s, 30s)
                    .named("transfer") HERE(account);
    FAIL() << "the key is held by another";
  } catch (const latchkey::LockTimeout& error) {
    EXPECT_EQ(error.key(), "account:7");
    EXPECT_TRUE(error.method().starts_with("transfer (here_test.cpp:")) << error.method();
    EXPECT_FALSE(error.body_ran());
    const std::string sentence = error.what();
    EXPECT_TRUE(sentence.starts_with(error.method() + ": ")) << sentence;
    EXPECT_NE(sentence.find("; key template 'account:{account.id}', lease 30000 ms"),
              std::string::npos)
        << sentence;
  }
}

TEST_F(Here, AnUnconfirmedReleaseSaysThatNoBodyRan) {
  latchkey::tests::Faults faults;
  const latchkey::Locks failing(std::make_unique<latchkey::tests::FailingBackend>(faults), {});
  auto hold = LOCKED("k").in(failing)HERE();
  faults.silent = true;
  try {
    hold.release();
    FAIL() << "nobody confirmed it";
  } catch (const latchkey::ReleaseUnconfirmed& error) {
    EXPECT_FALSE(error.body_ran());
    EXPECT_EQ(error.key(), "k");
  }
}

TEST_F(Here, WaitsCanBeCancelled) {
  const std::optional<Hold> other =
      std::async(std::launch::async, [&] { return locks().lock("busy").try_acquire(0ms); }).get();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(static_cast<void>(
                   LOCKED("busy", LockType::REENTRANT, 30s).cancel_with(stop.get_token()) HERE()),
               latchkey::Cancelled);
}

TEST_F(Here, TheFormWithoutMacrosDoesTheSame) {
  const Account account;
  const auto place = [] { return std::source_location::current(); };
  auto hold =
      latchkey::locked<"account:{account.id}">(place) * latchkey::terms(LockType::READ, 3s, 30s) &&
      latchkey::for_scope<"account">(place, account);
  EXPECT_EQ(hold.key(), "account:7");
  EXPECT_EQ(hold.type(), LockType::READ);
}

TEST_F(Here, MayOutliveTheLocalsOfAnEndingThread) {
  std::thread([&] {
    thread_local std::optional<Hold> last;
    last.emplace(LOCKED("late") HERE());
    latchkey::assert_held("late");
  }).join();
  EXPECT_TRUE(is_free("late"));
}

}  // namespace
