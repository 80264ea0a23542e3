// Semaphores in MariaDB: beside locks, with old procedures, under faults, and in a soak.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

#include <latchkey/locks.hpp>

#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"
#include "stores/semaphore_cases.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

TEST(MysqlSemaphore, EachLockTypeIsRefusedOnASemaphoresKey) {
  register_mysql();
  expect_that_a_semaphore_keeps_locks_out(mysql_server().uri(), next_key());
}

TEST(MysqlSemaphore, EveryTypeOfLockKeepsASemaphoreOut) {
  register_mysql();
  expect_that_locks_keep_a_semaphore_out(mysql_server().uri(), next_key());
}

TEST(MysqlSemaphore, PeopleSeeItsHoldsAndItIsListedWhileThereAreSome) {
  register_mysql();
  expect_that_people_see_its_holds(mysql_server().uri(), next_key());
}

TEST(MysqlSemaphore, OldProceduresStillServeLocksAndRefusePermitsWithTheCure) {
  MysqlSession root = mysql_server().session("mysql");
  root("CREATE DATABASE older; GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON older.* TO locks");
  mysql_server().create("older");
  mysql_server().session("older")(
      "DROP PROCEDURE latchkey_acquire_permits; DROP PROCEDURE latchkey_resize_permits;"
      "DROP PROCEDURE latchkey_destroy_permits");
  register_mysql();
  const Locks locks = Locks::connect(mysql_server().uri("older"));
  expect_that_permits_are_refused(
      locks,
      "lacks latchkey's procedures for semaphores: run `latchkey ddl mysql | mysql <database>` "
      "again");
  mysql_server().create("older");
  EXPECT_TRUE(locks.semaphore("s", 3).try_acquire());
}

// A user with no more than the rights that the page names.
TEST(MysqlSemaphore, CreateNeedsNoRightToReplaceProcedures) {
  MysqlSession root = mysql_server().session("mysql");
  root(
      "CREATE DATABASE small; CREATE USER maker IDENTIFIED BY 'm'; GRANT SELECT, INSERT, UPDATE, "
      "DELETE, EXECUTE, CREATE, CREATE ROUTINE ON small.* TO maker");
  register_mysql();
  const std::string port = std::to_string(mysql_server().port());
  const Locks locks = Locks::connect("mysql://maker:m@127.0.0.1:" + port + "/small?create=yes");
  EXPECT_TRUE(locks.semaphore("s", 3).try_acquire());
}

void try_fault(const std::function<void()>& fault) {
  register_mysql();
  const Options options{.command_timeout = 500ms};
  const std::string uri = mysql_server().uri(), key = next_key();
  expect_that_permits_outlive(fault, Locks::connect(uri, options), Locks::connect(uri, options),
                              key, await_attempts);
  EXPECT_EQ(rows_of("'" + key + "'"), "0");
}

TEST(MysqlSemaphore, PermitsOutliveAKilledConnectionAndAKilledServer) {
  try_fault([] { EXPECT_GT(mysql_server().disconnect_users(), 0); });
  try_fault([] {
    mysql_server().kill();
    mysql_server().start();
  });
}

TEST(MysqlSemaphoreSoak, NeverMorePermitsThanThereAre) {
  register_mysql();
  expect_never_more_permits_than_there_are(mysql_server());
  EXPECT_EQ(rows_of("'permits'"), "0");
}

}  // namespace
}  // namespace latchkey::tests
