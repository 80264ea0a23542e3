// Semaphores in MariaDB: beside locks, with old procedures, under faults, and in a soak.
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

#include "soak/permit_holders.hpp"
#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

constexpr const char* old_tables =
    "lacks latchkey's procedures for semaphores: run `latchkey ddl mysql | mysql <database>` again";

void expect_refused(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "not refused";
  } catch (const BackendRefused& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(MysqlSemaphore, EachLockTypeIsRefusedOnASemaphoresKey) {
  register_mysql();
  const Locks locks = Locks::connect(mysql_server().uri());
  const Locks others =
      Locks::connect(mysql_server().uri());  // what one Locks holds, it does not ask for
  const std::string key = next_key();
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

TEST(MysqlSemaphore, EveryTypeOfLockKeepsASemaphoreOut) {
  register_mysql();
  const Locks locks = Locks::connect(mysql_server().uri());
  const Locks others =
      Locks::connect(mysql_server().uri());  // what one Locks holds, it does not ask for
  const std::string key = next_key();
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

TEST(MysqlSemaphore, PeopleSeeItsHoldsAndItIsListedWhileThereAreSome) {
  register_mysql();
  const Locks locks = Locks::connect(mysql_server().uri());
  const std::string key = next_key();
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

TEST(MysqlSemaphore, OldProceduresStillServeLocksAndRefusePermitsWithTheCure) {
  MysqlSession root = mysql_server().session("mysql");
  root("CREATE DATABASE older; GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON older.* TO locks");
  mysql_server().create("older");
  mysql_server().session("older")(
      "DROP PROCEDURE latchkey_acquire_permits; DROP PROCEDURE latchkey_resize_permits;"
      "DROP PROCEDURE latchkey_destroy_permits");
  register_mysql();
  const Locks locks = Locks::connect(mysql_server().uri("older"));
  EXPECT_TRUE(locks.lock("k").try_acquire());
  const Semaphore semaphore = locks.semaphore("s", 3);
  expect_refused([&] { static_cast<void>(semaphore.try_acquire()); }, old_tables);
  expect_refused([&] { semaphore.set_total(4); }, old_tables);
  expect_refused([&] { semaphore.destroy(); }, old_tables);
  EXPECT_EQ(semaphore.available(), 3);
  EXPECT_TRUE(locks.lock("k").try_acquire());
  mysql_server().create("older");
  EXPECT_TRUE(semaphore.try_acquire());
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

/// Under a hold, and under a wait of another process.
void expect_that_permits_outlive(const std::function<void()>& fault) {
  register_mysql();
  const Options options{.command_timeout = 500ms};
  const Locks mine = Locks::connect(mysql_server().uri(), options),
              theirs = Locks::connect(mysql_server().uri(), options);
  const std::string key = next_key();
  const Semaphore one = mine.semaphore(key, 3), other = theirs.semaphore(key, 3);
  std::optional<Hold> hold = one.acquire(2, 0ms, 60s);
  const auto attempts = [] {
    return std::stoll(
        mysql_server().session()("SHOW GLOBAL STATUS LIKE 'Com_call_procedure'").at(0).at(1));
  };
  const auto before = attempts();
  auto waiter = std::async(std::launch::async, [&] { return other.acquire(2, forever, 60s); });
  await("attempts of the waiter", [&] { return attempts() >= before + 5 ? "" : "too few"; });
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
  const std::string where = " WHERE name = '" + key + "')";
  EXPECT_EQ(mysql_server().session().one("SELECT (SELECT COUNT(*) FROM latchkey_locks" + where +
                                         " + (SELECT COUNT(*) FROM latchkey_members" + where),
            "0");
}

TEST(MysqlSemaphore, PermitsOutliveAKilledConnectionAndAKilledServer) {
  expect_that_permits_outlive([] { EXPECT_GT(mysql_server().disconnect_users(), 0); });
  expect_that_permits_outlive([] {
    mysql_server().kill();
    mysql_server().start();
  });
}

TEST(MysqlSemaphoreSoak, NeverMorePermitsThanThereAre) {
  register_mysql();
  MysqlServer& server = mysql_server();
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
  const std::string left = server.session().one(
      "SELECT (SELECT COUNT(*) FROM latchkey_locks WHERE name = 'permits') + (SELECT COUNT(*) FROM "
      "latchkey_members WHERE name = 'permits')");
  EXPECT_EQ(left, "0");
}

}  // namespace
}  // namespace latchkey::tests
