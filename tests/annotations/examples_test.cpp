// The services of the examples with macros and with annotations: both forms take the same locks.
#include <latchkey/annotations.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <latchkey/install.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "bank/annotated_bank.hpp"
#include "bank/bank.hpp"
#include "http_service/annotated_ledger.hpp"
#include "http_service/ledger.hpp"
#include "lock_action/annotated_service.hpp"
#include "lock_action/service.hpp"
#include "tutorial/annotated_stock.hpp"
#include "tutorial/stock.hpp"

namespace annotated_examples {

using latchkey::Event;
using latchkey::testing::ScopedLocks;
using Lines = std::vector<std::string>;

/// The events in their order, without times and without names of places.
Lines events_of(const ScopedLocks& locks) {
  Lines lines;
  for (const Event& event : locks.events()) {
    std::ostringstream line;
    line << latchkey::to_string(event.kind) << ' ' << latchkey::to_string(event.type) << ' '
         << event.key << " template " << event.origin.key_template << " lease "
         << event.lease.count() << " permits " << event.permits << " count " << event.count;
    lines.push_back(line.str());
  }
  return lines;
}

/// The locks of a class as a policy file is checked against them, sorted: the result, the key, the
/// text of type, wait and lease, the strategies and the arguments.
Lines locks_of(const std::string& type) {
  std::ostringstream dumped;
  latchkey::dump_sites(dumped);
  std::istringstream all(dumped.str());
  Lines lines;
  for (std::string line; std::getline(all, line);) {
    if (!line.starts_with("{\"name\":\"" + type + "::")) continue;
    const std::size_t result = line.find("\"result\":");
    const std::size_t alone = line.find("\"alone\":");
    const std::size_t after = line.find(',', alone);
    // The bank's audit has one LOCKED inside another; with annotations these are two functions.
    std::string facts = line.substr(result, alone - result) + line.substr(after + 1);
    while (!facts.empty() && facts.back() != '}') facts.pop_back();
    lines.push_back(std::move(facts));
  }
  std::ranges::sort(lines);
  return lines;
}

/// The events of `work` with fresh Locks in memory.
Lines events_during(const std::function<void()>& work) {
  const ScopedLocks locks;
  work();
  return events_of(locks);
}

template <class Service>
void serve_customers() {
  const std::vector<Account> accounts{{"1", "Ada", 100}, {"2", "Grace", 50}};
  demo::Ledger ledger(accounts);
  Service bank(ledger);
  EXPECT_EQ(bank.deposit(accounts[0], 10), 110);
  EXPECT_TRUE(bank.withdraw(accounts[0], 100));
  EXPECT_FALSE(bank.withdraw(accounts[0], 100));
  EXPECT_TRUE(bank.transfer(accounts[1], accounts[0], 20));
  EXPECT_TRUE(bank.transfer(accounts[0], accounts[1], 20));
  EXPECT_EQ(bank.balance(accounts[1]), 50);
  EXPECT_TRUE(bank.audit(accounts[0]));
}

TEST(AnnotatedExamples, TheBankTakesTheSameLocks) {
  const Lines events = events_during(&serve_customers<Bank>);
  ASSERT_GT(events.size(), 18U);
  EXPECT_EQ(events, events_during(&serve_customers<AnnotatedBank>));
  ASSERT_EQ(locks_of("Bank").size(), 6U);
  EXPECT_EQ(locks_of("Bank"), locks_of("AnnotatedBank"));
}

TEST(AnnotatedExamples, TheBankTimesItsMethodsInBothForms) {
  const ScopedLocks locks;
  serve_customers<Bank>();
  serve_customers<AnnotatedBank>();
  const auto laps = demo::stopwatch.laps();
  for (const std::string method : {"deposit", "withdraw", "transfer", "balance", "audit"}) {
    EXPECT_TRUE(laps.contains("Bank::" + method)) << method;
    EXPECT_TRUE(laps.contains("AnnotatedBank::" + method)) << method;
  }
}

template <class Service>
void act() {
  Service service;
  const UserVO ada{7, "ada"};
  EXPECT_EQ(service.update(ada), "updateKey ada");
  EXPECT_EQ(service.update_by_id(ada), "7 ada");
  EXPECT_EQ(service.write_by_id(ada), "7 ada");
  EXPECT_EQ(std::as_const(service).read_by_id(ada), "7 ada: 3");
}

TEST(AnnotatedExamples, TheLockActionServiceTakesTheSameLocks) {
  const Lines events = events_during(&act<LockActionService>);
  ASSERT_GT(events.size(), 8U);
  EXPECT_EQ(events, events_during(&act<AnnotatedLockActionService>));
  ASSERT_EQ(locks_of("LockActionService").size(), 4U);
  EXPECT_EQ(locks_of("LockActionService"), locks_of("AnnotatedLockActionService"));
}

template <class Service>
void deliver() {
  Service stock(std::filesystem::path(testing::TempDir()) / "annotated_examples_stock");
  const int before = stock.add({"tea"}, 0);
  EXPECT_EQ(stock.add({"tea"}, 2), before + 2);
  stock.add({"coffee"}, 1);
}

TEST(AnnotatedExamples, TheTutorialsStockTakesTheSameLocks) {
  const Lines events = events_during(&deliver<Stock>);
  ASSERT_GT(events.size(), 6U);
  EXPECT_EQ(events, events_during(&deliver<AnnotatedStock>));
  ASSERT_EQ(locks_of("Stock").size(), 1U);
  EXPECT_EQ(locks_of("Stock"), locks_of("AnnotatedStock"));
}

template <class Coroutine>
auto result_of(Coroutine coroutine) {
  asio::io_context context;
  auto result = asio::co_spawn(context, std::move(coroutine), asio::use_future);
  context.run();
  return result.get();
}

/// `ledger` is a pointer to a Ledger, or a proxy.
template <class Pointer>
void book(Pointer&& ledger) {
  EXPECT_EQ(result_of(ledger->deposit("alice", 10)), 10);
  EXPECT_TRUE(result_of(ledger->transfer("bob", "alice", 0)));
  EXPECT_FALSE(result_of(ledger->transfer("alice", "bob", 11)));
  EXPECT_EQ(result_of(ledger->balance("alice")), 10);
}

TEST(AnnotatedExamples, TheCoroutinesTakeTheSameLocks) {
  const Lines events = events_during([] { book(std::make_unique<Ledger>()); });
  ASSERT_GT(events.size(), 10U);
  EXPECT_EQ(events, events_during([] { book(latchkey::Annotated<AnnotatedLedger>()); }));
  ASSERT_EQ(locks_of("Ledger").size(), 3U);
  EXPECT_EQ(locks_of("Ledger"), locks_of("AnnotatedLedger"));
}

/// A lock that somebody else holds makes both forms wait, and give up with the same error.
template <class Service>
std::string error_while_busy() {
  const ScopedLocks locks;
  const latchkey::Locks others = locks.locks().with_owner(latchkey::Owner::make());
  const latchkey::Hold held = others.lock("stock:tea", LockType::WRITE).acquire(latchkey::forever);
  Service stock(std::filesystem::path(testing::TempDir()) / "annotated_examples_stock");
  try {
    stock.add({"tea"}, 1);
  } catch (const latchkey::LockTimeout& error) {
    std::ostringstream facts;
    facts << error.key() << ' ' << error.body_ran();
    return facts.str();
  }
  return "no error";
}

TEST(AnnotatedExamples, TheStockGivesUpInBothFormsWhileAnotherOwnerHoldsTheLock) {
  EXPECT_EQ(error_while_busy<Stock>(), "stock:tea 0");
  EXPECT_EQ(error_while_busy<AnnotatedStock>(), "stock:tea 0");
}

}  // namespace annotated_examples
