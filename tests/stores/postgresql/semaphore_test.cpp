// Semaphores in PostgreSQL: beside locks, on old tables, under faults, and in a soak.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "soak/permit_holders.hpp"
#include "stores/postgresql/ddl.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

constexpr const char* old_tables =
    "lacks latchkey's functions for semaphores; run 'latchkey ddl postgresql | psql <database>' "
    "again";

void expect_refused(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "not refused";
  } catch (const BackendRefused& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(PostgresqlSemaphore, EachLockTypeIsRefusedOnASemaphoresKey) {
  register_postgresql();
  const Locks locks = Locks::connect(shared_server().uri());
  const Locks others =
      Locks::connect(shared_server().uri());  // what one Locks holds, it does not ask for
  const std::string key = next_key("kind:");
  const Semaphore semaphore = locks.semaphore(key, 3);
  std::optional<Hold> permit = semaphore.acquire(2);
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    SCOPED_TRACE(to_string(type));
    expect_refused([&] { static_cast<void>(others.lock(key, type).try_acquire(1s)); },
                   "the key is a semaphore");
  }
  expect_refused([&] { locks.force_release(key); }, "the key is a semaphore");
  EXPECT_FALSE(permit->lost());
  EXPECT_EQ(semaphore.available(), 1);
  EXPECT_TRUE(permit->release());
  EXPECT_TRUE(semaphore.destroy());
  EXPECT_TRUE(locks.lock(key).try_acquire());
}

TEST(PostgresqlSemaphore, EveryTypeOfLockKeepsASemaphoreOut) {
  register_postgresql();
  const Locks locks = Locks::connect(shared_server().uri());
  const Locks others =
      Locks::connect(shared_server().uri());  // what one Locks holds, it does not ask for
  const std::string key = next_key("kind:");
  const Semaphore semaphore = locks.semaphore(key, 3);
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    SCOPED_TRACE(to_string(type));
    std::optional<Hold> hold = others.lock(key, type).acquire();
    expect_refused([&] { static_cast<void>(semaphore.try_acquire()); }, "the key is a lock");
    expect_refused([&] { semaphore.set_total(4); }, "the key is a lock");
    expect_refused([&] { semaphore.destroy(); }, "the key is a lock");
    expect_refused([&] { static_cast<void>(semaphore.available()); }, "the key is a lock");
    EXPECT_TRUE(hold->release());
  }
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_TRUE(semaphore.destroy());
}

TEST(PostgresqlSemaphore, PeopleSeeItsHoldsAndItIsListedWhileThereAreSome) {
  register_postgresql();
  const Locks locks = Locks::connect(shared_server().uri());
  const std::string key = next_key("kind:");
  const Semaphore semaphore = locks.semaphore(key, 5);
  std::optional<Hold> two = semaphore.acquire(2), one = semaphore.acquire(1);
  const LockInfo info = locks.inspect(key);  // which does not know that it is a semaphore
  EXPECT_EQ(info.type, LockType::PERMIT);
  EXPECT_TRUE(info.locked);
  EXPECT_EQ(info.holders.size(), 2U);
  ASSERT_TRUE(info.permits);
  EXPECT_EQ(info.permits->available, 2);
  EXPECT_EQ(info.permits->total, 5);
  semaphore.set_total(2);
  EXPECT_EQ(semaphore.available(), -1);
  EXPECT_EQ(locks.list(key).size(), 1U);
  EXPECT_TRUE(two->release());
  EXPECT_TRUE(locks.release_holder(key, locks.inspect(key).holders.at(0).id));
  EXPECT_TRUE(locks.list(key).empty());
  EXPECT_FALSE(one->release());
  EXPECT_EQ(semaphore.available(), 2);
  EXPECT_TRUE(semaphore.destroy());
}

TEST(PostgresqlSemaphore, OldTablesStillServeLocksAndRefusePermitsWithTheCure) {
  Sql admin = shared_server().sql("postgres");
  admin("CREATE DATABASE older OWNER plain");
  const std::string uri = shared_server().uri_of("plain:plain", "older");
  EXPECT_NE(connect_backend(uri + "?create=yes"), nullptr);
  shared_server().sql("older")(
      "DROP FUNCTION latchkey.acquire_permits, latchkey.resize_permits, "
      "latchkey.destroy_permits");
  {
    const Locks locks = Locks::connect(uri);
    EXPECT_TRUE(locks.lock("k").try_acquire());
    const Semaphore semaphore = locks.semaphore("s", 3);
    expect_refused([&] { static_cast<void>(semaphore.try_acquire()); }, old_tables);
    expect_refused([&] { semaphore.set_total(4); }, old_tables);
    expect_refused([&] { semaphore.destroy(); }, old_tables);
    EXPECT_EQ(semaphore.available(), 3);
    EXPECT_TRUE(locks.lock("k").try_acquire());
  }
  shared_server().sql("older")(std::string(detail::postgresql::ddl));
  EXPECT_TRUE(Locks::connect(uri).semaphore("s", 3).try_acquire());
  admin("DROP DATABASE older WITH (FORCE)");
}

/// Under a hold, and under a wait of another process.
void expect_that_permits_outlive(PostgresqlServer& server, const std::function<void()>& fault) {
  register_postgresql();
  const Locks mine = Locks::connect(server.uri()), theirs = Locks::connect(server.uri());
  const Semaphore one = mine.semaphore("f", 3), other = theirs.semaphore("f", 3);
  std::optional<Hold> hold = one.acquire(2, 0ms, 60s);
  auto waiter = std::async(std::launch::async, [&] { return other.acquire(2, forever, 60s); });
  Sql sql = server.sql();
  await("a waiter", [&] {
    return sql.one("SELECT count(*) FROM latchkey.waiter WHERE name = 'f'") == "0" ? "none" : "";
  });
  fault();
  await("the connection", [&]() -> std::string {
    try {
      return hold->extend(60s) ? "" : "lost";
    } catch (const BackendUnavailable& error) {
      return error.what();
    }
  });
  EXPECT_EQ(waiter.wait_for(0s), std::future_status::timeout);
  EXPECT_TRUE(hold->release());
  ASSERT_EQ(waiter.wait_for(20s), std::future_status::ready);
  Hold next = waiter.get();
  EXPECT_FALSE(next.lost());
  EXPECT_EQ(one.available(), 1);
  EXPECT_TRUE(next.release());
  EXPECT_TRUE(one.destroy());
}

TEST(PostgresqlSemaphore, PermitsOutliveAKilledConnectionAndAKilledServer) {
  PostgresqlServer server;
  expect_that_permits_outlive(server, [&] {
    server.sql()("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'");
  });
  expect_that_permits_outlive(server, [&] {
    server.kill();
    server.start();
  });
  EXPECT_EQ(server.sql().one("SELECT count(*) FROM latchkey.lock"), "0");
}

TEST(PostgresqlSemaphoreSoak, NeverMorePermitsThanThereAre) {
  register_postgresql();
  PostgresqlServer server;
  bool killed = false;
  int stops = 0, kills = 0;
  const auto length = soak::length_of_soak();
  soak::PermitHolders holders([&] {
    return Locks::connect(server.uri(),
                          {.watchdog = soak::PermitHolders::lease, .startup = Startup::allow_down});
  });
  EXPECT_TRUE(holders.run(length, [&] {
    std::optional<soak::Children>& child = holders.random_child();
    soak::late_wait(std::chrono::milliseconds(20 + holders.random() % 200));
    if (!killed && soak::PermitHolders::Steady::now() > holders.end() - length / 2) {
      killed = true;
      server.kill();
      server.start();
    } else if (holders.random() % 3 == 0) {
      holders.kill(child);
      ++kills;
    } else {  // shorter and longer than a lease
      const pid_t id = child->ids().front();
      ::kill(id, SIGSTOP);
      soak::late_wait(std::chrono::milliseconds(50 + holders.random() % 1'500));
      ::kill(id, SIGCONT);
      ++stops;
    }
  }));
  const soak::PermitJudge& judge = *holders.judge;
  std::printf("%d stops, %d kills, %zu holds, at most %llu permits at once\n", stops, kills,
              judge.holds, static_cast<unsigned long long>(judge.most));
  EXPECT_TRUE(killed);
  EXPECT_EQ(judge.violations, 0U);
  EXPECT_GT(judge.holds, 20U);
  constexpr int permits = soak::PermitHolders::permits;
  const Semaphore semaphore = Locks::connect(server.uri()).semaphore("permits", permits);
  EXPECT_TRUE(semaphore.try_acquire(permits, 2 * soak::PermitHolders::lease + 1s))
      << "what the killed held is not free";
  EXPECT_EQ(semaphore.available(), permits);
  EXPECT_TRUE(semaphore.destroy());
  EXPECT_EQ(server.sql().one("SELECT count(*) FROM latchkey.lock"), "0");
}

}  // namespace
}  // namespace latchkey::tests
