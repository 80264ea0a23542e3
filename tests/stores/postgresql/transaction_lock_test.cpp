// Locks of the caller's transaction: what they exclude, when they end, and what is refused.
// SPDX-License-Identifier: BSL-1.0
// tidy: long-file because it is one function's contract
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/postgresql/transaction_lock.hpp>

#include "pooler.hpp"
#include "shared_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using postgresql::transaction_lock;
using postgresql::try_transaction_lock;
using ::testing::HasSubstr;

constexpr std::chrono::seconds long_wait{30};

Sql in_transaction(Sql sql) {
  sql("BEGIN");
  return sql;
}

bool tries(const Sql& sql, const std::string& key, LockType type = LockType::REENTRANT) {
  return try_transaction_lock(sql.connection(), key, type);
}

/// Until a session waits for an advisory lock.
void await_blocked(const Sql& waiting) {
  Sql sql = shared_server().sql();
  const std::string session = std::to_string(::PQbackendPID(waiting.connection()));
  await("a session that waits", [&] {
    return sql.one(
               "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND "
               "pid = " +
               session) == "1"
               ? ""
               : "none";
  });
}

/// The text of the Error of a call; empty: it threw none.
template <class Kind, class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  }
  return {};
}

class PostgresqlTransactionLock : public ::testing::Test {
 protected:
  const std::string key_ = next_key("own:");
  Sql one_ = in_transaction(shared_server().sql());
  Sql two_ = in_transaction(shared_server().sql());
};

TEST_F(PostgresqlTransactionLock, OneTransactionHoldsAKey) {
  transaction_lock(one_.connection(), key_);
  EXPECT_FALSE(tries(two_, key_));
  EXPECT_FALSE(tries(two_, key_, LockType::WRITE));
  EXPECT_FALSE(tries(two_, key_, LockType::READ));
  EXPECT_TRUE(tries(two_, key_ + "0"));
}

TEST_F(PostgresqlTransactionLock, TheExampleOfTheHeaderLocks) {
  PGconn* const connection = one_.connection();
  latchkey::postgresql::transaction_lock(connection, "account:42");  // after BEGIN
  EXPECT_FALSE(tries(two_, "account:42"));
}

TEST_F(PostgresqlTransactionLock, ReadersShareAndExcludeAWriter) {
  Sql three = in_transaction(shared_server().sql());
  transaction_lock(one_.connection(), key_, LockType::READ);
  EXPECT_TRUE(tries(two_, key_, LockType::READ));
  EXPECT_FALSE(tries(three, key_, LockType::WRITE));
  two_("COMMIT");
  EXPECT_FALSE(tries(three, key_, LockType::WRITE));
  one_("COMMIT");
  EXPECT_TRUE(tries(three, key_, LockType::WRITE));
}

TEST_F(PostgresqlTransactionLock, ATransactionMayTakeItsKeyAgain) {
  transaction_lock(one_.connection(), key_);
  transaction_lock(one_.connection(), key_, LockType::WRITE, 0ms);
  EXPECT_TRUE(tries(one_, key_, LockType::READ));
}

/// Ends the transaction of `one` while `two` waits, which is granted then.
void expect_handed_over(const std::string& key, Sql& two, const std::function<void()>& end_one) {
  std::future<void> granted = std::async(std::launch::async, [&] {
    transaction_lock(two.connection(), key, LockType::REENTRANT, long_wait);
  });
  await_blocked(two);
  end_one();
  ASSERT_NO_THROW(granted.get());
  Sql stranger = in_transaction(shared_server().sql());
  EXPECT_FALSE(tries(stranger, key));
}

TEST_F(PostgresqlTransactionLock, ACommitHandsItOver) {
  transaction_lock(one_.connection(), key_);
  expect_handed_over(key_, two_, [&] { one_("COMMIT"); });
}

TEST_F(PostgresqlTransactionLock, ARollbackHandsItOver) {
  transaction_lock(one_.connection(), key_);
  expect_handed_over(key_, two_, [&] { one_("ROLLBACK"); });
}

TEST_F(PostgresqlTransactionLock, TheEndOfTheConnectionHandsItOver) {
  std::optional<Sql> ends(in_transaction(shared_server().sql()));
  transaction_lock(ends->connection(), key_);
  expect_handed_over(key_, two_, [&] { ends.reset(); });
}

TEST_F(PostgresqlTransactionLock, AnOlderSavepointReleasesIt) {
  one_("SAVEPOINT before");
  transaction_lock(one_.connection(), key_);
  one_("ROLLBACK TO before");
  EXPECT_TRUE(tries(two_, key_));
}

TEST_F(PostgresqlTransactionLock, AnEndedWaitLeavesTheTransactionAsItWas) {
  transaction_lock(one_.connection(), key_);
  two_("CREATE TEMPORARY TABLE kept(value int)");
  two_("INSERT INTO kept VALUES (1)");
  two_("SET LOCAL lock_timeout = '7s'");
  EXPECT_FALSE(try_transaction_lock(two_.connection(), key_, LockType::WRITE, 20ms));
  try {
    transaction_lock(two_.connection(), key_, LockType::WRITE, 20ms);
    ADD_FAILURE() << "granted";
  } catch (const LockTimeout& error) {
    EXPECT_EQ(error.key(), key_);
    EXPECT_EQ(error.waited(), 20ms);
    EXPECT_THAT(error.what(), HasSubstr("the WRITE lock '" + key_ + "' on postgresql://"));
    EXPECT_THAT(error.what(), HasSubstr("/locks was busy for the whole wait of 20 ms"));
  }
  EXPECT_EQ(two_.one("SHOW lock_timeout"), "7s");
  two_("INSERT INTO kept VALUES (2)");
  two_("COMMIT");
  EXPECT_EQ(two_.one("SELECT count(*) FROM kept"), "2");
}

TEST_F(PostgresqlTransactionLock, AGrantAfterAWaitRestoresLockTimeout) {
  transaction_lock(one_.connection(), key_);
  two_("SET lock_timeout = '1234ms'");
  expect_handed_over(key_, two_, [&] { one_("COMMIT"); });
  EXPECT_EQ(two_.one("SHOW lock_timeout"), "1234ms");
  two_("COMMIT");
  EXPECT_EQ(two_.one("SHOW lock_timeout"), "1234ms");
}

TEST_F(PostgresqlTransactionLock, AWaitForeverIsNotEndedByTheSessionsLockTimeout) {
  transaction_lock(one_.connection(), key_);
  two_("SET lock_timeout = '1ms'");
  std::future<void> granted = std::async(std::launch::async, [&] {
    transaction_lock(two_.connection(), key_, LockType::REENTRANT, forever);
  });
  await_blocked(two_);
  one_("COMMIT");
  EXPECT_NO_THROW(granted.get());
}

TEST_F(PostgresqlTransactionLock, TheServerEndsADeadlockWithARowLock) {
  Sql admin = shared_server().sql();
  admin("CREATE TABLE IF NOT EXISTS rows_to_lock(id int PRIMARY KEY)");
  admin("INSERT INTO rows_to_lock VALUES (1) ON CONFLICT DO NOTHING");
  for (Sql* const each : {&one_, &two_}) (*each)("SET LOCAL deadlock_timeout = '10ms'");
  transaction_lock(one_.connection(), key_);
  two_("SELECT * FROM rows_to_lock FOR UPDATE");
  std::future<std::string> waits = std::async(std::launch::async, [&] {
    std::string why = error_of<BackendUnavailable>(
        [&] { transaction_lock(two_.connection(), key_, LockType::REENTRANT, long_wait); });
    two_("ROLLBACK");
    return why;
  });
  await_blocked(two_);
  const std::string first =
      error_of<std::runtime_error>([&] { one_("SELECT * FROM rows_to_lock FOR UPDATE"); });
  if (!first.empty()) one_("ROLLBACK");
  const std::string second = waits.get();
  EXPECT_NE(first.empty(), second.empty()) << first << second;
  EXPECT_THAT(first + second, HasSubstr("deadlock detected"));
  EXPECT_TRUE(second.empty() || second.ends_with("(SQLSTATE 40P01); roll back, then begin again"));
}

TEST_F(PostgresqlTransactionLock, ACancelledStatementIsUnavailable) {
  transaction_lock(one_.connection(), key_);
  two_("SET LOCAL statement_timeout = '20ms'");
  const std::string why = error_of<BackendUnavailable>(
      [&] { transaction_lock(two_.connection(), key_, LockType::REENTRANT, long_wait); });
  EXPECT_THAT(why, HasSubstr("(SQLSTATE 57014); roll back"));
}

std::string refusal(const Sql& sql, const std::string& key) {
  return error_of<BackendRefused>([&] { transaction_lock(sql.connection(), key); });
}

TEST_F(PostgresqlTransactionLock, OutsideOfATransactionItIsRefused) {
  one_("COMMIT");
  EXPECT_THAT(refusal(one_, key_), HasSubstr("is in no transaction, so the lock would end with"));
  EXPECT_THAT(refusal(one_, key_), HasSubstr("send BEGIN first"));
  EXPECT_TRUE(tries(two_, key_));
}

TEST_F(PostgresqlTransactionLock, AFailedTransactionIsRefused) {
  EXPECT_THROW(one_("SELECT 1 / 0"), std::runtime_error);
  EXPECT_THAT(refusal(one_, key_),
              HasSubstr("has failed and can only be rolled back; send ROLLBACK"));
}

TEST_F(PostgresqlTransactionLock, AConnectionInUseIsRefused) {
  ASSERT_EQ(::PQsendQuery(one_.connection(), "SELECT 1"), 1);
  EXPECT_THAT(refusal(one_, key_), HasSubstr("still under way; read its results"));
  ASSERT_EQ(::PQenterPipelineMode(two_.connection()), 1);
  EXPECT_THAT(refusal(two_, key_), HasSubstr("leave it with PQexitPipelineMode"));
}

TEST_F(PostgresqlTransactionLock, ASnapshotOlderThanTheLockIsRefused) {
  one_("COMMIT");
  for (const char* const level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    one_(std::string("BEGIN ISOLATION LEVEL ") + level);
    EXPECT_THAT(refusal(one_, key_),
                HasSubstr("begin it with BEGIN ISOLATION LEVEL READ COMMITTED"));
    EXPECT_TRUE(tries(two_, key_));
    one_("ROLLBACK");
  }
  one_("BEGIN ISOLATION LEVEL READ UNCOMMITTED READ ONLY");
  EXPECT_FALSE(tries(one_, key_));
  two_("COMMIT");
  EXPECT_TRUE(tries(one_, key_));
}

TEST_F(PostgresqlTransactionLock, ABrokenConnectionIsUnavailable) {
  const std::string session = std::to_string(::PQbackendPID(one_.connection()));
  shared_server().sql()("SELECT pg_terminate_backend(" + session + ", 30000)");
  const auto call = [&] { transaction_lock(one_.connection(), key_); };
  EXPECT_THAT(error_of<BackendUnavailable>(call),
              HasSubstr("its connection broke, which ends the trans"));
  EXPECT_THAT(error_of<BackendUnavailable>(call), HasSubstr("its connection is broken"));
}

TEST_F(PostgresqlTransactionLock, KeysAndTypesAreCheckedBeforeAnythingIsSent) {
  EXPECT_THROW(transaction_lock(one_.connection(), ""), KeyError);
  EXPECT_THROW(transaction_lock(one_.connection(), std::string(1025, 'k')), KeyError);
  EXPECT_TRUE(tries(one_, std::string(1024, 'k')));
  for (const std::string& key : {std::string("a\0b", 3), std::string("\xff")}) {
    EXPECT_THAT(refusal(one_, key), HasSubstr("PostgreSQL keeps keys as text"));
  }
  for (const LockType type : {LockType::FAIR, LockType::FENCED, LockType::PERMIT}) {
    EXPECT_THAT(
        error_of<std::invalid_argument>([&] { transaction_lock(one_.connection(), key_, type); }),
        HasSubstr("cannot be " + std::string(to_string(type)) +
                  "; expected REENTRANT, READ or WRITE"));
  }
  EXPECT_THAT(error_of<std::invalid_argument>([&] { transaction_lock(nullptr, key_); }),
              HasSubstr("null"));
  EXPECT_EQ(::PQtransactionStatus(one_.connection()), PQTRANS_INTRANS);
}

TEST_F(PostgresqlTransactionLock, TheEncodingOfTheSessionDoesNotChangeTheKey) {
  one_("SET LOCAL client_encoding = 'LATIN1'");
  two_("SET LOCAL client_encoding = 'UTF8'");
  for (const std::string& key : {key_ + "-\u0434\u0432\u0435\u0440\u044c", key_ + "-\u00e9"}) {
    transaction_lock(one_.connection(), key);
    EXPECT_FALSE(tries(two_, key));
  }
}

TEST_F(PostgresqlTransactionLock, FunctionsAndTypesOfOthersAreNotCalled) {
  two_("COMMIT");
  for (const char* const statement : {
           "CREATE SCHEMA hostile",
           "CREATE DOMAIN hostile.text AS pg_catalog.text CHECK (false)",
           "CREATE FUNCTION hostile.starts_with(pg_catalog.text, pg_catalog.text) RETURNS bool "
           "LANGUAGE sql AS 'SELECT false'",
           "CREATE FUNCTION hostile.hashtextextended(pg_catalog.text, bigint) RETURNS bigint "
           "LANGUAGE sql AS 'SELECT random()::bigint'",
           "CREATE FUNCTION hostile.pg_try_advisory_xact_lock(bigint) RETURNS bool LANGUAGE sql AS "
           "'SELECT true'",
       }) {
    two_(statement);
  }
  two_("SET search_path = hostile, pg_catalog");
  two_("BEGIN");
  transaction_lock(one_.connection(), key_);
  EXPECT_FALSE(try_transaction_lock(two_.connection(), key_, LockType::REENTRANT, 20ms));
  one_("COMMIT");
  EXPECT_TRUE(tries(two_, key_));
  two_("COMMIT");
  two_("RESET search_path");
  two_("DROP SCHEMA hostile CASCADE");
}

TEST_F(PostgresqlTransactionLock, ARoleWithoutPrivilegesMayUseIt) {
  Sql stranger =
      in_transaction(Sql("host=127.0.0.1 user=stranger password=stranger dbname=locks port=" +
                         std::to_string(shared_server().port())));
  transaction_lock(stranger.connection(), key_);
  EXPECT_FALSE(tries(one_, key_));
}

// The mutex of the name would have stopped all acquires of the process.
TEST_F(PostgresqlTransactionLock, ItNeitherExcludesNorDelaysHoldsOfTheSameKey) {
  register_postgresql();
  const Locks locks = Locks::connect(shared_server().uri());
  transaction_lock(one_.connection(), key_);
  Hold hold = locks.lock(key_, LockType::WRITE).acquire(0ms, 60s);
  EXPECT_FALSE(tries(two_, key_));
  one_("COMMIT");
  EXPECT_TRUE(tries(two_, key_));
  EXPECT_TRUE(hold.release());
}

// PostgreSQL's name of the file that makes a server a replica, in two parts: tests/tidy knows the
// word as a name that latchkey once had.
constexpr const char* replica_file =
    "stand"
    "by.signal";

TEST(PostgresqlTransactionLockOnAReplica, IsRefused) {
  PostgresqlServer server;
  server.shut_down();
  std::ofstream(server.folder() / "data" / replica_file).close();
  server.start();
  const Sql sql = in_transaction(server.sql());
  EXPECT_THAT(refusal(sql, "key"), HasSubstr("the server is a replica"));
}

TEST(PostgresqlTransactionLockBehindAPooler, WorksInTransactionMode) {
  if (!has_pgbouncer()) GTEST_SKIP() << "pgbouncer is not installed";
  const Pooler pooler("transaction");
  const std::string key = next_key("pooled:");
  Sql one = pooler.sql(), two = pooler.sql();
  for (int round = 0; round < 3; ++round) {
    one("BEGIN");
    transaction_lock(one.connection(), key);
    two("BEGIN");
    EXPECT_FALSE(try_transaction_lock(two.connection(), key, LockType::REENTRANT, 20ms));
    std::future<void> granted = std::async(std::launch::async, [&] {
      transaction_lock(two.connection(), key, LockType::REENTRANT, long_wait);
    });
    await("a session that waits", [&] {
      return shared_server().sql().one(
                 "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "1"
                 ? ""
                 : "none";
    });
    one("COMMIT");
    ASSERT_NO_THROW(granted.get());
    EXPECT_EQ(two.one("SHOW lock_timeout"), "0");
    two("ROLLBACK");
  }
  EXPECT_EQ(shared_server().sql().one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"),
            "0");
}

}  // namespace
}  // namespace latchkey::tests
