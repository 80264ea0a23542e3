// Restart, freeze and loss of the connection, under a hold and under a wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"
#include "support/child.hpp"
#include "support/fork.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using testing::Probe;

enum class Fault { restart, kill, freeze, disconnect };

std::string name_of(const ::testing::TestParamInfo<Fault>& info) {
  constexpr const char* names[] = {"Restart", "Kill", "Freeze", "Disconnect"};
  return names[static_cast<int>(info.param)];
}

void cause(Fault fault) {
  MysqlServer& server = mysql_server();
  switch (fault) {
    case Fault::restart:
      server.shut_down();
      server.start();
      return;
    case Fault::kill:
      server.kill();
      server.start();
      return;
    case Fault::freeze:
      server.stop();
      std::this_thread::sleep_for(800ms);  // sleeps: longer than command_timeout
      server.resume();
      return;
    case Fault::disconnect: EXPECT_GT(server.disconnect_users(), 0); return;
  }
}

class MysqlOutage : public ::testing::TestWithParam<Fault> {
 protected:
  MysqlOutage() { register_mysql(); }
  static Locks connect() {
    return Locks::connect(mysql_server().uri(), {.command_timeout = 500ms});
  }
  void TearDown() override { mysql_server().serve_again(); }

  const std::string key_ = next_key();
};

TEST_P(MysqlOutage, AHoldSurvivesAndIsReleased) {
  const Locks locks = connect(), other = connect();
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    SCOPED_TRACE(to_string(type));
    Hold hold = locks.lock(key_, type).acquire(0ms, 60s);
    cause(GetParam());
    EXPECT_FALSE(hold.lost());
    await("the connection", [&] { return hold.extend(60s) ? "" : "not extended"; });
    EXPECT_FALSE(other.lock(key_, LockType::WRITE).try_acquire(1s));
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(other.lock(key_, type).try_acquire(2s));
  }
}

TEST_P(MysqlOutage, AWaiterIsGrantedTheLockAfterwards) {
  const Locks locks = connect(), other = connect();
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::WRITE}) {
    SCOPED_TRACE(to_string(type));
    Hold hold = locks.lock(key_, type).acquire(0ms, 60s);
    auto waiter = std::async(
        std::launch::async, [&] { return other.lock(key_, type).acquire(forever, 60s).release(); });
    await_attempts();
    cause(GetParam());
    await("the connection", [&] { return hold.extend(60s) ? "" : "not extended"; });
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(waiter.get());
  }
}

TEST_P(MysqlOutage, NothingIsLeft) {
  {
    const Locks locks = connect();
    std::optional<Hold> hold = locks.lock(key_, LockType::FAIR).acquire(0ms, 60s);
    cause(GetParam());
    try {
      hold->release();
    } catch (const BackendUnavailable&) {
      ADD_FAILURE() << "not released";
    }
  }
  await("the last row", [&] {
    const std::string left = rows_of("'" + key_ + "'");
    return left == "0" ? std::string() : left + " rows";
  });
}

INSTANTIATE_TEST_SUITE_P(All, MysqlOutage,
                         ::testing::Values(Fault::restart, Fault::kill, Fault::freeze,
                                           Fault::disconnect),
                         name_of);

class MysqlLoss : public MysqlOutage {};

TEST_F(MysqlLoss, AHoldIsLostInTimeIfTheServerFreezesForLonger) {
  const Locks locks = connect();
  Hold hold = locks.lock(key_).acquire(0ms, 1s);
  mysql_server().stop();
  std::this_thread::sleep_for(1s);  // sleeps: the lease ends
  EXPECT_TRUE(hold.lost());
  mysql_server().resume();
  await("another holder", [&] { return connect().lock(key_).try_acquire(1s) ? "" : "busy"; });
}

TEST_F(MysqlLoss, AWatchdogHoldIsLostIfItsRowIsDeleted) {
  const Locks locks = connect();
  Hold hold = locks.lock(key_).acquire(0ms, 900ms);
  mysql_server().session()("DELETE FROM latchkey_locks");
  await("the loss", [&] { return hold.lost() ? "" : "still held"; });
  EXPECT_FALSE(hold.release());
}

TEST_F(MysqlLoss, ARequestDuringAFreezeEndsInTime) {
  const Locks locks = connect();
  mysql_server().stop();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(static_cast<void>(locks.lock(key_).try_acquire()), BackendUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

// The server works on the acquire only after the client has given up on the connection.
TEST_F(MysqlLoss, ADelayedAcquireDoesNotRunAfterTheNextConnectionIsUp) {
  const Options options{.command_timeout = 500ms};
  MysqlSession root = mysql_server().session();
  root("INSERT INTO latchkey_locks (name, mode, owner, ends) VALUES ('" + key_ + "', 1, 'x', 1)");
  root("START TRANSACTION; SELECT * FROM latchkey_locks FOR UPDATE");
  Probe probe(make_mysql(mysql_server().uri(), options), options);
  const HoldId id = probe.fresh_id();
  const Outcome lost = probe.acquire(key_, LockType::REENTRANT, id, 60s);
  EXPECT_EQ(lost.kind, Outcome::Kind::unknown);
  EXPECT_FALSE(lost.never_ran);
  const Outcome next = probe.send(Verb::verify, key_, LockType::REENTRANT, id);
  EXPECT_EQ(next.kind, Outcome::Kind::gone) << next.reason;
  root("COMMIT");
  std::this_thread::sleep_for(100ms);  // sleeps: nothing tells that a command has done nothing
  EXPECT_EQ(probe.send(Verb::verify, key_, LockType::REENTRANT, id).kind, Outcome::Kind::gone);
  root("DELETE FROM latchkey_locks");
}

TEST_F(MysqlLoss, ALockedRowFailsOnlyTheRequestsForItsKey) {
  const Options options{.command_timeout = 4s};
  MysqlSession root = mysql_server().session();
  root("INSERT INTO latchkey_locks (name, mode, owner, ends) VALUES ('" + key_ + "', 1, 'x', 1)");
  root("START TRANSACTION; SELECT * FROM latchkey_locks WHERE name='" + key_ + "' FOR UPDATE");
  Probe probe(make_mysql(mysql_server().uri(), options), options);
  const Outcome outcome = probe.acquire(key_, LockType::REENTRANT, probe.fresh_id(), 60s);
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_TRUE(outcome.never_ran);
  EXPECT_EQ(outcome.reason, "another transaction has locked the row of the key for too long");
  EXPECT_EQ(probe.acquire(next_key(), LockType::REENTRANT, probe.fresh_id(), 1s).kind,
            Outcome::Kind::granted);
  root("ROLLBACK; DELETE FROM latchkey_locks");
}

TEST_F(MysqlLoss, TheLockOfAKilledProcessIsFreeAfterItsLease) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = fork_child();
  if (child == 0) {
    const Locks locks = connect();
    const Hold hold = locks.lock(key_, LockType::WRITE).acquire(0ms, 2s);
    static_cast<void>(::write(ready[1], "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto begin = std::chrono::steady_clock::now();
  const Locks locks = connect();
  EXPECT_TRUE(locks.lock(key_, LockType::WRITE).try_acquire(10s));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_EQ(rows_of("'" + key_ + "'"), "0");
}

TEST_F(MysqlLoss, WhatKilledProcessesLeaveBehindIsSwept) {
  mysql_server().session()(
      "INSERT INTO latchkey_locks (name, mode, owner, ends) VALUES ('dead', 1, 'x', 1);"
      "INSERT INTO latchkey_locks (name, mode, owner, ends, waiting) VALUES ('q', 0, '', 0, 1);"
      "INSERT INTO latchkey_members VALUES ('q', 4, 'x', 1, 1);"
      "INSERT INTO latchkey_locks (name, mode, owner, ends) VALUES ('r', 3, '', 1);"
      "INSERT INTO latchkey_members VALUES ('r', 3, 'x', 1, 0)");
  const Locks locks = connect();
  await("the sweep", [&] {  // once a second, after a request; it passes over rows in use
    EXPECT_TRUE(locks.lock(key_).try_acquire());
    const std::string left = rows_of("'dead','q','r'");
    return left == "0" ? std::string() : left + " rows";
  });
}

TEST_F(MysqlLoss, AChildHasItsOwnConnectionAndDoesNotTouchItsParents) {
  const auto sessions = [] {
    std::set<std::string> all;
    for (const auto& row : mysql_server().session()(
             "SELECT id FROM information_schema.PROCESSLIST WHERE user='locks'")) {
      all.insert(row.front());
    }
    return all;
  };
  // The parent's session must be the same one afterwards, however slow the machine is.
  const Locks locks = Locks::connect(mysql_server().uri(), {.command_timeout = 20s});
  std::optional<Hold> hold = locks.lock(key_).acquire(forever);
  // Those of tests before this one may not have ended yet.
  const std::set<std::string> before = sessions();
  EXPECT_EQ(in_child([&](Findings& findings) {
              CHILD_EXPECT(findings, hold->lost());
              CHILD_EXPECT(findings, !locks.lock(key_).try_acquire().has_value());
              CHILD_EXPECT(findings, locks.lock("child").try_acquire().has_value());
              hold.reset();
            }),
            "");
  await("the child's session to end", [&] {
    return std::string(std::ranges::includes(before, sessions()) ? "" : "it is there");
  });
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(hold->release());
}

}  // namespace
}  // namespace latchkey::tests
