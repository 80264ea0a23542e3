// Connection loss, restarts, freezes and kills of the server, under a hold and under a wait.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "soak/shared.hpp"
#include "support/child.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// A fault of the server or of the connections. `strike` returns when it is over.
struct Fault {
  const char* name;
  void (*strike)(PostgresqlServer& server);
};
const Fault faults[] = {
    {"Terminate",
     [](PostgresqlServer& server) {
       server.sql()(
           "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = "
           "'plain'");
     }},
    {"Restart",
     [](PostgresqlServer& server) {
       server.shut_down();
       server.start();
     }},
    {"Kill",
     [](PostgresqlServer& server) {
       server.kill();
       server.start();
     }},
    {"Freeze",
     [](PostgresqlServer& server) {
       server.stop();
       std::this_thread::sleep_for(3s);  // sleeps: longer than command_timeout
       server.resume();
     }},
};

/// Within 30 s.
void expect_no_rows(const PostgresqlServer& server) {
  Sql sql = server.sql();
  await("empty tables", [&] {
    const std::string rows = sql.one(
        "SELECT (SELECT count(*) FROM latchkey.lock) + (SELECT count(*) FROM "
        "latchkey.place) + (SELECT count(*) FROM latchkey.waiter)");
    return rows == "0" ? std::string() : rows + " rows";
  });
}

/// Each fault has a server of its own.
class PostgresqlFaults : public ::testing::TestWithParam<Fault> {
 protected:
  static void SetUpTestSuite() { server_ = new PostgresqlServer(); }
  static void TearDownTestSuite() { delete server_; }

  [[nodiscard]] Locks connect() const {
    register_postgresql();
    std::optional<Locks> locks;
    await("a connection", [&] {  // a busy machine does not give one in time
      locks.emplace(Locks::connect(server_->uri()));
      return std::string();
    });
    return std::move(*locks);
  }
  void strike() { GetParam().strike(*server_); }
  static void await_held(Hold& hold) {
    await("the connection", [&] {
      try {
        return hold.extend(60s) ? std::string() : "lost";
      } catch (const BackendUnavailable& error) {
        return std::string(error.what());
      }
    });
  }
  static void expect_nothing_left() { expect_no_rows(*server_); }

  static inline PostgresqlServer* server_ = nullptr;
};

TEST_P(PostgresqlFaults, AHoldOutlivesIt) {
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::WRITE, LockType::FENCED, LockType::READ}) {
    SCOPED_TRACE(to_string(type));
    const Locks locks = connect();
    const std::string key = next_key("hold:");
    Hold hold = locks.lock(key, type).acquire(0ms, 60s);
    if (type == LockType::REENTRANT || type == LockType::READ) strike();
    await_held(hold);
    EXPECT_FALSE(hold.lost());
    EXPECT_FALSE(connect().lock(key, LockType::WRITE).try_acquire(0ms, 1s));
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(connect().lock(key, type).try_acquire(0ms, 1s));
  }
  expect_nothing_left();
}

TEST_P(PostgresqlFaults, AWaiterGetsTheLockAfterIt) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    const Locks mine = connect(), theirs = connect();
    const std::string key = next_key("wait:");
    std::optional<Hold> hold = mine.lock(key, type).acquire(0ms, 60s);
    auto waiter = std::async(std::launch::async, [&] {
      const Hold next = theirs.lock(key, type).acquire(forever, 10s);
      return !next.lost();
    });
    await_waiter(*server_, key);
    strike();
    await_held(*hold);
    EXPECT_TRUE(hold->release());
    EXPECT_EQ(waiter.wait_for(20s), std::future_status::ready);
    EXPECT_TRUE(waiter.get());
  }
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Each, PostgresqlFaults, ::testing::ValuesIn(faults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(PostgresqlFork, AChildHasItsOwnConnectionAndDoesNotTouchItsParents) {
  register_postgresql();
  const Locks locks = Locks::connect(shared_server().uri());
  const std::string key = next_key("fork:");
  std::optional<Hold> hold = locks.lock(key).acquire(forever);
  Sql sql = shared_server().sql();
  const std::string sessions =
      "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity WHERE usename = "
      "'plain'";
  const std::string before = sql.one(sessions);
  EXPECT_EQ(in_child([&](Findings& findings) {
              CHILD_EXPECT(findings, hold->lost());
              CHILD_EXPECT(findings, !locks.lock(key).try_acquire().has_value());
              CHILD_EXPECT(findings, locks.lock(key + ".child").try_acquire().has_value());
              hold.reset();
            }),
            "");
  await("the end of the child's session",
        [&] { return sql.one(sessions) == before ? std::string() : "still there"; });
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(hold->extend(60s));
  EXPECT_TRUE(hold->release());
}

TEST(PostgresqlKill, WhatAKilledProcessHeldIsFreeAfterItsLeaseAndNothingIsLeft) {
  constexpr auto lease = 2s;
  const PostgresqlServer server;
  register_postgresql();
  std::optional<soak::Children> child(std::in_place);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  child->start([&] {
    const Locks locks = Locks::connect(server.uri());
    const Hold hold = locks.lock("held", LockType::FENCED).acquire(0ms, lease);
    const Hold read = locks.lock("read", LockType::READ).acquire(0ms, lease);
    const std::jthread waits([&] {  // leaves a place in the queue
      static_cast<void>(locks.lock("held", LockType::FAIR).try_acquire(60s, lease));
    });
    Sql sql = server.sql();
    while (sql.one("SELECT count(*) FROM latchkey.place") == "0") ::poll(nullptr, 0, 5);
    static_cast<void>(::write(ready[1], "x", 1));
    for (;;) ::pause();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  child.reset();  // kills it
  const Locks locks = Locks::connect(server.uri());
  EXPECT_TRUE(locks.lock("held", LockType::FAIR).try_acquire(lease + 1s));
  EXPECT_TRUE(locks.lock("read", LockType::WRITE).try_acquire(1s));
  ::close(ready[0]);
  ::close(ready[1]);
  expect_no_rows(server);
}

TEST(PostgresqlFaults2, ASessionThatIsStuckInTheServerDoesNotBlockOthersForLong) {
  register_postgresql();
  const Locks locks = Locks::connect(shared_server().uri());
  const std::string key = next_key("stuck:");
  Sql other = shared_server().sql();
  other("BEGIN; SELECT latchkey.enter('" + key + "')");
  const auto before = std::chrono::steady_clock::now();
  auto blocked = std::async(std::launch::async, [&] {
    try {
      return std::string(locks.lock(key).try_acquire(0ms, 10s) ? "granted" : "busy");
    } catch (const BackendUnavailable& error) {
      return std::string(error.what());
    }
  });
  EXPECT_TRUE(locks.lock(next_key("free:")).try_acquire(3s, 10s));
  const std::string why = blocked.get();
  EXPECT_NE(why.find("lock timeout"), std::string::npos) << why;
  EXPECT_LT(std::chrono::steady_clock::now() - before, 4s);
  other("ROLLBACK");
  EXPECT_TRUE(locks.lock(key).try_acquire(0ms, 10s));
}

}  // namespace
}  // namespace latchkey::tests
