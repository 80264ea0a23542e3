// Transactions beside locks: the example's aspect, the classic bug, and the order that avoids it.
// SPDX-License-Identifier: BSL-1.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <latchkey/latchkey.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "shared_server.hpp"
#include "support/process.hpp"
#include "transactions/accounts.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

std::string parameters() {
  return "host=" + shared_server().folder().string() +
         " user=admin dbname=locks port=" + std::to_string(shared_server().port());
}

class PostgresqlTransactions : public ::testing::Test {
 protected:
  PostgresqlTransactions() { Accounts::create(one_); }

  const Locks locks_ = Locks::connect("memory:");
  latchkey::testing::ScopedLocks scope_{locks_};
  Database one_{parameters()}, two_{parameters()};
  Accounts first_{one_}, second_{two_};
  const std::string id_ = next_key("account-");
};

// The control: what locks are blamed for. The lock is free before the commit is visible.
TEST_F(PostgresqlTransactions, ATransactionAroundItsLockLosesAnUpdate) {
  long seen = 0;
  Transaction around_lock(two_);
  in_transaction(one_) AROUND() {
    LOCKED("account:{id_}") AROUND(id_) { first_.write(id_, first_.read(id_) + 1); };
    LOCKED("account:{id_}") AROUND(id_) { seen = second_.read(id_); };
  };
  second_.write(id_, seen + 1);
  around_lock.commit();
  EXPECT_EQ(first_.read(id_), 1);  // of two payments
}

TEST_F(PostgresqlTransactions, ATransactionInsideItsLockLosesNone) {
  std::optional<bool> free_before_the_commit;
  LOCKED("account:{id_}") | in_transaction(one_) AROUND(id_) {
    first_.write(id_, first_.read(id_) + 1);
    std::thread([&] {
      free_before_the_commit = locks_.lock("account:" + id_).try_acquire(0ms, 1s).has_value();
    }).join();
  };
  EXPECT_EQ(free_before_the_commit, false);
  EXPECT_EQ(second_.deposit_with_lock(id_, 1), 2);
}

TEST_F(PostgresqlTransactions, ATransactionLockEndsAfterTheCommitIsVisible) {
  in_transaction(one_) AROUND() {
    postgresql::transaction_lock(one_.connection(), "account:" + id_);
    first_.write(id_, first_.read(id_) + 1);
    const Transaction other(two_);
    EXPECT_FALSE(postgresql::try_transaction_lock(two_.connection(), "account:" + id_));
  };
  EXPECT_EQ(second_.deposit_with_transaction_lock(id_, 1), 2);
}

TEST_F(PostgresqlTransactions, InTransactionCommitsAtReturn) {
  EXPECT_EQ(first_.deposit_with_lock(id_, 5), 5);
  EXPECT_EQ(second_.read(id_), 5);
  EXPECT_EQ(::PQtransactionStatus(one_.connection()), PQTRANS_IDLE);
  const long& sum = in_transaction(one_) AROUND()->const long& {
    static const long same = 7;
    return same;
  };
  EXPECT_EQ(sum, 7);
}

TEST_F(PostgresqlTransactions, InTransactionRollsBackAtAnException) {
  const auto pay = [&] {
    LOCKED("account:{id_}") | in_transaction(one_) AROUND(id_) {
      first_.write(id_, 9);
      throw std::out_of_range("no");
    };
  };
  EXPECT_THROW(pay(), std::out_of_range);
  EXPECT_EQ(::PQtransactionStatus(one_.connection()), PQTRANS_IDLE);
  EXPECT_EQ(second_.read(id_), 0);
}

TEST_F(PostgresqlTransactions, InTransactionReportsWhatWasNotCommitted) {
  const auto pay = [&] {
    in_transaction(one_) AROUND() {
      first_.write(id_, 9);
      EXPECT_THROW(one_.run("SELECT 1 / 0"), std::runtime_error);
    };
  };
  EXPECT_THROW(pay(), std::runtime_error);
  EXPECT_EQ(second_.read(id_), 0);
}

TEST_F(PostgresqlTransactions, AspectsSayWhetherTheyBelongInsideALock) {
  static_assert(InTransaction::belongs_inside_lock && !InTransaction::takes_lock);
  static_assert(!Aspect::belongs_inside_lock && !Aspect::takes_lock);
  const auto right = LOCKED("account:{id_}") | in_transaction(one_) | in_transaction(two_);
  static_assert(decltype(right)::belongs_inside_lock && decltype(right)::takes_lock);
}

#ifdef LATCHKEY_TRANSACTIONS_EXAMPLE
TEST_F(PostgresqlTransactions, TheExampleLosesNoPayment) {
  const std::string log = shared_server().folder() / "example.log";
  ASSERT_NO_THROW(run({LATCHKEY_TRANSACTIONS_EXAMPLE, "--database", parameters()}, log));
  std::ifstream file(log);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  for (const char* const way : {"row lock  ", "transaction lock  ", "lock around a transaction "}) {
    EXPECT_THAT(text, ::testing::ContainsRegex(std::string(way) + " *200 of 200 payments"));
  }
}
#endif

}  // namespace
}  // namespace latchkey::tests
