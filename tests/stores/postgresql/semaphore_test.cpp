// Semaphores in PostgreSQL: beside locks, on old tables, under faults, and in a soak.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "stores/postgresql/ddl.hpp"
#include "stores/semaphore_cases.hpp"

namespace latchkey::tests {
namespace {

TEST(PostgresqlSemaphore, EachLockTypeIsRefusedOnASemaphoresKey) {
  register_postgresql();
  expect_that_a_semaphore_keeps_locks_out(shared_server().uri(), next_key("kind:"));
}

TEST(PostgresqlSemaphore, EveryTypeOfLockKeepsASemaphoreOut) {
  register_postgresql();
  expect_that_locks_keep_a_semaphore_out(shared_server().uri(), next_key("kind:"));
}

TEST(PostgresqlSemaphore, PeopleSeeItsHoldsAndItIsListedWhileThereAreSome) {
  register_postgresql();
  expect_that_people_see_its_holds(shared_server().uri(), next_key("kind:"));
}

TEST(PostgresqlSemaphore, OldTablesStillServeLocksAndRefusePermitsWithTheCure) {
  Sql admin = shared_server().sql("postgres");
  admin("CREATE DATABASE older OWNER plain");
  const std::string uri = shared_server().uri_of("plain:plain", "older");
  EXPECT_NE(connect_backend(uri + "?create=yes"), nullptr);
  shared_server().sql("older")(
      "DROP FUNCTION latchkey.acquire_permits, latchkey.resize_permits, "
      "latchkey.destroy_permits");
  expect_that_permits_are_refused(
      Locks::connect(uri),
      "lacks latchkey's functions for semaphores; run 'latchkey ddl postgresql | psql <database>' "
      "again");
  shared_server().sql("older")(std::string(detail::postgresql::ddl));
  EXPECT_TRUE(Locks::connect(uri).semaphore("s", 3).try_acquire());
  admin("DROP DATABASE older WITH (FORCE)");
}

void try_fault(PostgresqlServer& server, const std::function<void()>& fault) {
  register_postgresql();
  expect_that_permits_outlive(fault, Locks::connect(server.uri()), Locks::connect(server.uri()),
                              "f", [&] { await_waiter(server, "f"); });
}

TEST(PostgresqlSemaphore, PermitsOutliveAKilledConnectionAndAKilledServer) {
  PostgresqlServer server;
  try_fault(server, [&] {
    server.sql()("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'");
  });
  try_fault(server, [&] {
    server.kill();
    server.start();
  });
  EXPECT_EQ(server.sql().one("SELECT count(*) FROM latchkey.lock"), "0");
}

TEST(PostgresqlSemaphoreSoak, NeverMorePermitsThanThereAre) {
  register_postgresql();
  PostgresqlServer server;
  expect_never_more_permits_than_there_are(server);
  EXPECT_EQ(server.sql().one("SELECT count(*) FROM latchkey.lock"), "0");
}

}  // namespace
}  // namespace latchkey::tests
