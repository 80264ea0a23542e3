// docs/testing.md, compiled and run: its snippets stand here word for word.
// tidy: long-file because it is one page
#include <latchkey/latchkey.hpp>
#include <latchkey/testing.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/testing/backend_contract.hpp>
#include <latchkey/testing/simulator.hpp>

#include "unit/policy/policy_text.hpp"

// clang-format off: the page's own lines
namespace docs_testing {
namespace {

using namespace std::chrono_literals;
using namespace latchkey::testing;
using latchkey::LockType;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::NiceMock;
using ::testing::Not;
using ::testing::Return;

struct Account {
  int id = 0;
  LATCHKEY_REFLECT(Account);
};

class Ledger {
 public:
  virtual ~Ledger() = default;
  virtual void add(int account, long amount) = 0;
};

class MockLedger : public Ledger {
 public:
  MOCK_METHOD(void, add, (int account, long amount), (override));
};

class Bank {
 public:
  explicit Bank(Ledger& ledger) : ledger_(ledger) {}

  void deposit(const Account& account, long amount) {
    LOCKED("account:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account, amount) {
      ledger_.add(account.id, amount);
    };
  }

  void transfer(const Account& from, const Account& to, long amount) {
    LOCKED("account:{from.id}", LockType::WRITE, 3s, 30s) AROUND(from, to, amount) {
      deposit(to, amount);
      ledger_.add(from.id, -amount);
    };
  }

 private:
  Ledger& ledger_;
};

TEST(Bank, LocksTheAccountOfADeposit) {
  const ScopedLocks locks;
  NiceMock<MockLedger> ledger;
  Bank(ledger).deposit({42}, 10);
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:42", LockType::WRITE}));
}

TEST(Bank, AddsToTheLedgerUnderTheLock) {
  const ScopedLocks locks;
  NiceMock<MockLedger> ledger;
  EXPECT_CALL(ledger, add(42, 10)).WillOnce([&] {
    EXPECT_THAT(latchkey::current_hold(), HoldsLock("account:42", LockType::WRITE));
    EXPECT_THAT(locks, HoldsLock("account:42"));
  });
  Bank(ledger).deposit({42}, 10);
  EXPECT_THAT(locks, Not(HoldsLock("account:42")));
}

TEST(Bank, ThrowsLockLostIfTheLeaseEndsDuringTheWork) {
  ManualClock clock;
  const ScopedLocks locks({.clock = &clock});
  NiceMock<MockLedger> ledger;
  EXPECT_CALL(ledger, add).WillOnce([&] { clock.advance(30s); });
  EXPECT_THROW(Bank(ledger).deposit({42}, 10), latchkey::LockLost);
}

TEST(Watchdog, RenewsALongHold) {
  ManualClock clock;
  const ScopedLocks locks({.clock = &clock});
  const latchkey::Hold hold = locks.locks().lock("report").acquire(3s);
  for (int turn = 0; turn < 12; ++turn) {
    ASSERT_TRUE(clock.await_sleepers(1));
    clock.advance(10s);  // a third of the watchdog's period
  }
  EXPECT_FALSE(hold.lost());
}

TEST(Bank, LocksOnTheServerThatTheEnvironmentNames) {
  const char* uri = std::getenv("LATCHKEY_URI");  // redis://127.0.0.1 where a server runs
  const ScopedLocks locks(
      latchkey::Locks::connect(uri != nullptr ? uri : "memory:", {.prefix = "test:"}));
  NiceMock<MockLedger> ledger;
  EXPECT_CALL(ledger, add(42, 10)).WillOnce([&] {
    EXPECT_THAT(locks, HoldsLock("account:42"));
  });
  Bank(ledger).deposit({42}, 10);
  EXPECT_THAT(locks, Not(HoldsLock("account:42")));
}

TEST(Bank, GivesUpAfterThreeSeconds) {
  ManualClock clock;
  const ScopedLocks locks({.clock = &clock});
  const auto other = locks.locks().with_owner(latchkey::Owner::make());
  const latchkey::Hold hold = other.lock("account:42", LockType::WRITE).acquire();
  NiceMock<MockLedger> ledger;
  const auto skipping = clock.skip_waits();
  EXPECT_THROW(Bank(ledger).deposit({42}, 10), latchkey::LockTimeout);
}

TEST(Bank, ChangesNothingIfTheBackendIsUnavailable) {
  ManualClock clock;
  auto backend = std::make_unique<NiceMock<MockBackend>>(clock);
  EXPECT_CALL(*backend, acquire(RequestFor("account:42", LockType::WRITE)))
      .WillRepeatedly(Return(MockBackend::unknown("the line is dead")));
  const ScopedLocks locks(std::move(backend), {.clock = &clock});
  MockLedger ledger;
  EXPECT_CALL(ledger, add).Times(0);
  const auto skipping = clock.skip_waits();
  EXPECT_THROW(Bank(ledger).deposit({42}, 10), latchkey::BackendUnavailable);
}

class Vault {
 public:
  void open(const Account& account) {
    LOCKED_BY("money") AROUND(account) { ++opened_; };
  }

 private:
  int opened_ = 0;
};

TEST(Vault, IsLockedByTheKeyOfItsPolicy) {
  const ScopedLocks locks;
  const auto policies = ScopedPolicies::from_text(R"(
policies:
  money: {key: "vault:{account.id}", type: WRITE}
)");
  Vault().open({42});
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"vault:42", LockType::WRITE}));
}

/// The file of docs/policies.md.
const latchkey::tests::PolicyText service(R"(
backends:
  main: redis://:${REDIS_PASSWORD}@127.0.0.1:6379/0
policies:
  money:
    key: "account:{account.id}"
    type: WRITE
)");
const std::string& own_file = service.path();

TEST(Vault, IsLockedAsInProduction) {
  const ScopedLocks locks;
  const auto policies = ScopedPolicies::from_file(own_file);
  Vault().open({42});
  EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:42", LockType::WRITE}));
}

TEST(Vault, GivesUpAfterTheWaitOfItsPolicy) {
  ManualClock clock;
  const ScopedLocks locks({.clock = &clock});
  const auto policies = ScopedPolicies::from_text(R"(
policies:
  money: {key: "vault:{account.id}", type: WRITE, wait: 5s, lease: 20s}
)");
  const auto other = locks.locks().with_owner(latchkey::Owner::make());
  const latchkey::Hold hold = other.lock("vault:42", LockType::WRITE).acquire();
  const auto begin = clock.now();
  const auto skipping = clock.skip_waits();
  EXPECT_THROW(Vault().open({42}), latchkey::LockTimeout);
  EXPECT_EQ(clock.now() - begin, 5s);
}

TEST(Vault, HasTheLeaseOfItsPolicy) {
  ManualClock clock;
  auto backend = std::make_unique<NiceMock<MockBackend>>(clock);
  EXPECT_CALL(*backend, acquire(Field(&latchkey::Request::lease, 20s)));
  const ScopedLocks locks(std::move(backend), {.clock = &clock});
  const auto policies = ScopedPolicies::from_text(R"(
policies:
  money: {key: "vault:{account.id}", type: WRITE, wait: 5s, lease: 20s}
)");
  Vault().open({42});
}

TEST(Bank, CanDeadlockWithItself) {
  const ScopedLocks locks;
  NiceMock<MockLedger> ledger;
  Bank(ledger).transfer({1}, {2}, 10);
  Bank(ledger).transfer({2}, {1}, 10);
  EXPECT_THAT(locks.order_reports(),
              ElementsAre(HasSubstr("'account:1' of 'account:{account.id}'")));
}

/// A third party's store: one row for each key.
class Counters final : public latchkey::SimpleBackend {
 public:
  struct Row {
    latchkey::HoldId owner;
    latchkey::Clock::time_point ends;
  };
  struct Rows {
    std::mutex mutex;
    std::map<std::string, Row, std::less<>> by_key;
  };

  Counters(Rows& rows, latchkey::Clock& clock) : SimpleBackend(clock), rows_(rows), clock_(clock) {}
  std::string describe() const override { return "counters:"; }

 protected:
  latchkey::Outcome acquire(const latchkey::Request& ask) override {
    const std::lock_guard lock(rows_.mutex);
    const auto place = rows_.by_key.try_emplace(std::string(ask.key), Row{ask.id, {}}).first;
    Row& row = place->second;
    if (row.owner != ask.id && row.ends > clock_.now()) return busy();
    const bool mine = row.owner == ask.id;
    const auto ends = latchkey::later(clock_.now(), ask.lease);
    row = {ask.id, mine ? std::max(row.ends, ends) : ends};
    return granted();
  }
  latchkey::Outcome renew(const latchkey::Request& ask) override {
    const std::lock_guard lock(rows_.mutex);
    const auto row = mine(ask);
    if (row == rows_.by_key.end()) return gone();
    row->second.ends = std::max(row->second.ends, latchkey::later(clock_.now(), ask.lease));
    return granted();
  }
  latchkey::Outcome release(const latchkey::Request& ask) override {
    const std::lock_guard lock(rows_.mutex);
    const auto row = mine(ask);
    if (row == rows_.by_key.end()) return gone();
    rows_.by_key.erase(row);
    return granted();
  }

 private:
  std::map<std::string, Row, std::less<>>::iterator mine(const latchkey::Request& ask) {
    const auto row = rows_.by_key.find(ask.key);
    const bool held = row != rows_.by_key.end() && row->second.owner == ask.id &&
                      row->second.ends > clock_.now();
    return held ? row : rows_.by_key.end();
  }

  Rows& rows_;
  latchkey::Clock& clock_;
};

struct CountersStore {
  std::unique_ptr<latchkey::Backend> backend() { return std::make_unique<Counters>(rows, clock); }
  std::string fresh_key() { return "key" + std::to_string(++keys); }
  void pass(std::chrono::milliseconds time) { clock.advance(time); }
  latchkey::Options options() { return {.clock = &clock}; }

  static constexpr std::chrono::milliseconds unit{1'000};  // of manual time: no reason to hurry
  static constexpr bool verifies = false;

  ManualClock clock;
  Counters::Rows rows;
  int keys = 0;
};

class SimulatedCounters final : public latchkey::testing::SimulatedStore {
 public:
  explicit SimulatedCounters(latchkey::Clock& clock) : clock_(clock) {}
  std::unique_ptr<latchkey::Backend> connect() override {
    return std::make_unique<Counters>(rows_, clock_);
  }

 private:
  latchkey::Clock& clock_;
  Counters::Rows rows_;
};

TEST(Counters, KeepEveryPromiseInEverySeed) {
  const auto store = [](latchkey::Clock& clock) {
    return std::make_unique<SimulatedCounters>(clock);
  };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto report = latchkey::testing::simulate(seed, {.store = store});
    ASSERT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
  }
}

TEST(Counters, KeepEveryPromiseIfAHolderIsFrozenWhileTheServerRestarts) {
  using latchkey::testing::ScheduledFault;
  using namespace std::chrono_literals;
  const auto store = [](latchkey::Clock& clock) {
    return std::make_unique<SimulatedCounters>(clock);
  };
  const std::vector<ScheduledFault> schedule{
      {.at = 2s, .kind = ScheduledFault::Kind::freeze, .process = 1, .length = 1500ms},
      {.at = 3s, .kind = ScheduledFault::Kind::restart, .length = 200ms}};
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto report = latchkey::testing::simulate(seed, {.store = store, .schedule = schedule});
    ASSERT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
  }
}

}  // namespace
}  // namespace docs_testing

LATCHKEY_BACKEND_CONTRACT(Counters, docs_testing::CountersStore);
// clang-format on

namespace latchkey::testing {
namespace {

using ::testing::HasSubstr;

std::string content(const char* name) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("/tests/") + 1) + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> snippets(const std::string& page) {
  std::vector<std::string> all;
  const std::string begin = "```cpp\n";
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    all.push_back(page.substr(from, page.find("```", from) - from));
  }
  return all;
}

TEST(DocsTesting, EverySnippetIsCompiledAndRunHere) {
  const std::string source = content("tests/unit/testing/docs_testing_test.cpp");
  const auto all = snippets(content("docs/testing.md"));
  EXPECT_EQ(all.size(), 15U);
  for (const std::string& snippet : all) EXPECT_THAT(source, HasSubstr(snippet));
}

}  // namespace
}  // namespace latchkey::testing
