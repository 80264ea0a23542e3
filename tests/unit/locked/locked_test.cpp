// LOCKED around bodies and on callables, with the default strategies.
#include <latchkey/locked.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/held.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/failing_backend.hpp"
#include "support/recorder.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

struct Immovable {
  explicit Immovable(int number) : value(number) {}
  Immovable(const Immovable&) = delete;
  Immovable& operator=(const Immovable&) = delete;
  int value;
};

struct Bank {
  int deposit(const Account& account, int amount) {
    return LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {
      balance += amount;
      return balance;
    };
  }
  int& slot() {
    return LOCKED("slot") AROUND()->int& { return balance; };
  }
  std::unique_ptr<int> moved(std::unique_ptr<int> given) {
    return LOCKED("moved") AROUND(given) { return std::move(given); };
  }
  Immovable immovable() {
    return LOCKED("immovable") AROUND()->Immovable { return Immovable(4); };
  }
  void fail() {
    LOCKED("fail") AROUND() { throw std::runtime_error("body"); };
  }
  int brief(const Account& account) {
    return LOCKED("account:{account.id}", LockType::WRITE, 5ms, 1s) AROUND(account) { return 1; };
  }
  int balance = 0;
};

class Locked : public ::testing::Test {
 protected:
  bool is_locked(const std::string& key) { return locks_.inspect(key).locked; }
  latchkey::Hold hold_as_another(const std::string& key, LockType type = LockType::REENTRANT) {
    return locks_.with_owner(latchkey::Owner::make()).acquire(key, {.type = type});
  }

  latchkey::tests::Recorder recorder_;
  latchkey::Locks locks_ = latchkey::Locks::connect("memory:", {.listener = &recorder_});
  latchkey::testing::ScopedLocks scope_{locks_};
  Bank bank_;
};

TEST_F(Locked, HoldsWhileTheBodyRunsAndNoLonger) {
  auto seen = LOCKED("seen:{0}")(
      [this](int number) { return is_locked("seen:" + std::to_string(number)); });
  EXPECT_TRUE(seen(7));
  EXPECT_FALSE(is_locked("seen:7"));
}

TEST_F(Locked, GivesTheResultExactly) {
  EXPECT_EQ(bank_.deposit({1}, 5), 5);
  EXPECT_EQ(&bank_.slot(), &bank_.balance);
  EXPECT_EQ(*bank_.moved(std::make_unique<int>(3)), 3);
  EXPECT_EQ(bank_.immovable().value, 4);
  EXPECT_TRUE(locks_.list().empty());
}

TEST_F(Locked, UsesTheGivenType) {
  LOCKED("typed", LockType::FENCED) AROUND() {
    EXPECT_EQ(latchkey::current_hold()->type(), LockType::FENCED);
    EXPECT_TRUE(latchkey::current_hold()->fencing_token().has_value());
  };
  LOCKED("plain") AROUND() {
    EXPECT_EQ(latchkey::current_hold()->type(), LockType::REENTRANT);
    EXPECT_GT(latchkey::current_hold()->remaining(), 29s);
  };
  LOCKED("watched", LockType::READ, latchkey::forever, latchkey::watchdog) AROUND() {
    EXPECT_EQ(latchkey::current_hold()->type(), LockType::READ);
  };
}

TEST_F(Locked, ExcludesThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < 200; ++n) bank_.deposit({1}, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bank_.balance, 1600);
}

TEST_F(Locked, TimesOutWithAnErrorThatNamesTheKey) {
  const latchkey::Hold other = hold_as_another("account:4", LockType::WRITE);
  try {
    bank_.brief({4});
    ADD_FAILURE();
  } catch (const latchkey::LockTimeout& error) {
    EXPECT_EQ(error.key(), "account:4");
    EXPECT_EQ(error.type(), LockType::WRITE);
  }
  EXPECT_EQ(latchkey::current_hold(), nullptr);
}

TEST_F(Locked, ReleasesWhenTheBodyThrows) {
  EXPECT_THROW(bank_.fail(), std::runtime_error);
  EXPECT_FALSE(is_locked("fail"));
  EXPECT_EQ(latchkey::current_hold(), nullptr);
}

TEST_F(Locked, ThrowsLockLostAfterTheBody) {
  bool finished = false;
  const auto losing = [&] {
    LOCKED("lost", LockType::WRITE) AROUND() {
      EXPECT_TRUE(locks_.force_release("lost"));
      finished = true;
    };
  };
  try {
    losing();
    ADD_FAILURE();
  } catch (const latchkey::LockLost& error) {
    EXPECT_EQ(error.key(), "lost");
    EXPECT_EQ(error.type(), LockType::WRITE);
    EXPECT_NE(error.backend().find("memory"), std::string::npos);
  }
  EXPECT_TRUE(finished);
}

TEST_F(Locked, ThrowsTheBodysExceptionRatherThanLockLost) {
  const auto losing = [&] {
    LOCKED("lost") AROUND() {
      locks_.force_release("lost");
      throw std::runtime_error("body");
    };
  };
  EXPECT_THROW(losing(), std::runtime_error);
}

TEST_F(Locked, DestroysAnImmovableResultWhoseLockWasLost) {
  const auto losing = [&] {
    return LOCKED("lost") AROUND()->Immovable {
      locks_.force_release("lost");
      return Immovable(1);
    };
  };
  EXPECT_THROW(static_cast<void>(losing()), latchkey::LockLost);
}

TEST_F(Locked, ReportsALossIfOnLostIsReport) {
  const int result = LOCKED("lost").on_lost(latchkey::strategy::report) AROUND() {
    locks_.force_release("lost");
    return 3;
  };
  EXPECT_EQ(result, 3);
}

TEST_F(Locked, IsReentrant) {
  LOCKED("again") AROUND() {
    LOCKED("again") AROUND() { EXPECT_TRUE(is_locked("again")); };
    EXPECT_TRUE(is_locked("again"));
  };
  EXPECT_FALSE(is_locked("again"));
}

TEST_F(Locked, RefusesReentryIfConfigured) {
  LOCKED("again") AROUND() {
    const auto inner = [] { LOCKED("again").reentry(latchkey::Reentry::refuse) AROUND(){}; };
    EXPECT_THROW(inner(), latchkey::WouldDeadlock);
  };
}

TEST_F(Locked, EndsItsWaitWithTheStopToken) {
  const latchkey::Hold other = hold_as_another("busy");
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(20ms);  // sleeps: the call waits by then, most times
    source.request_stop();
  });
  const auto waiting = [&] {
    LOCKED("busy", LockType::REENTRANT, 10s).cancel_with(source.get_token()) AROUND(){};
  };
  EXPECT_THROW(waiting(), latchkey::Cancelled);
}

TEST_F(Locked, UsesTheGivenLocks) {
  const latchkey::Locks elsewhere = latchkey::Locks::connect("memory:");
  LOCKED("there").in(elsewhere)AROUND() {
    EXPECT_FALSE(is_locked("there"));
    EXPECT_TRUE(elsewhere.inspect("there").locked);
  };
  auto callable =
      LOCKED("kept").in(latchkey::Locks::connect("memory:"))([this] { return is_locked("kept"); });
  EXPECT_FALSE(callable());
  const latchkey::Locks prefixed = latchkey::Locks::connect("memory:", {.prefix = "app:"});
  const auto lost = [&] {
    LOCKED("key").in(prefixed)AROUND() {
      EXPECT_EQ(latchkey::current_hold()->key(), "key");
      ASSERT_HELD("key");
      prefixed.force_release("key");
    };
  };
  try {
    lost();
    ADD_FAILURE();
  } catch (const latchkey::LockLost& error) {
    EXPECT_EQ(error.key(), "key");
  }
}

TEST_F(Locked, RegistersItsSiteWithNameAndKey) {
  (LOCKED("named:{0}").named("from a call")([](int) {}))(1);
  [[maybe_unused]] auto fixed = LOCKED("fixed:{0}").named<"from the start">()([](int) {});
  int found = 0;
  for (const latchkey::Site& site : latchkey::sites()) {
    if (site.name() != "from a call" && site.name() != "from the start") continue;
    ++found;
    ASSERT_NE(site.notes(), nullptr);
    EXPECT_EQ(site.notes()->kind, "LOCKED");
    EXPECT_EQ(site.notes()->text, site.name() == "from a call" ? "named:{0}" : "fixed:{0}");
  }
  EXPECT_EQ(found, 2);
}

TEST_F(Locked, ComposesWithOthers) {
  LOCKED("outer") | LOCKED("inner") AROUND() {
    EXPECT_EQ(latchkey::current_hold()->key(), "inner");
    ASSERT_HELD("outer");
  };
  auto callable = (LOCKED("a:{0}") | LOCKED("b:{0}"))([this](int number) {
    return is_locked("a:" + std::to_string(number)) && is_locked("b:" + std::to_string(number));
  });
  EXPECT_TRUE(callable(5));
}

TEST_F(Locked, CanBeMadeByHand) {
  const auto place = [] { return std::source_location::current(); };
  const int result =
      latchkey::locked<"hand">(place) *
          latchkey::terms(LockType::WRITE, 1s, 10s).on_timeout(latchkey::strategy::raise) &&
      latchkey::with_arguments<"">(place) && [&]() { return is_locked("hand") ? 1 : 0; };
  EXPECT_EQ(result, 1);
}

TEST_F(Locked, KeepsTheKeyUntilHoldForHasPassed) {
  LOCKED("brief", LockType::REENTRANT, 1s, 30s).hold_for(10s) AROUND(){};
  EXPECT_TRUE(is_locked("brief"));
  LOCKED("slow", LockType::REENTRANT, 1s, 30s).hold_for(5ms) AROUND() {
    std::this_thread::sleep_for(20ms);  // sleeps: the body takes longer than hold_for
  };
  EXPECT_FALSE(is_locked("slow"));
  const auto too_long = [] { LOCKED("k", LockType::REENTRANT, 1s, 1s).hold_for(2s) AROUND(){}; };
  EXPECT_THROW(too_long(), std::invalid_argument);
}

TEST_F(Locked, ThrowsBackendUnavailableIfTheBackendIsSilent) {
  latchkey::tests::Faults faults;
  const latchkey::Locks failing(std::make_unique<latchkey::tests::FailingBackend>(faults));
  faults.silent = true;
  const auto call = [&] {
    LOCKED("k", LockType::REENTRANT, 10ms).in(failing)AROUND() { FAIL(); };
  };
  EXPECT_THROW(call(), latchkey::BackendUnavailable);
  faults.silent = false;
}

}  // namespace
