// Behind pgbouncer, and beside ShedLock's own statements.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "pooler.hpp"
#include "shared_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

std::string refusal(const std::string& uri) {
  try {
    static_cast<void>(connect_backend(uri));
  } catch (const BackendRefused& error) {
    return error.what();
  }
  return {};
}

TEST(PostgresqlPooler, TransactionModeIsRefused) {
  if (!has_pgbouncer()) GTEST_SKIP() << "pgbouncer is not installed";
  const Pooler pooler("transaction");
  const std::string why = refusal(pooler.uri());
  EXPECT_NE(why.find("pgbouncer with pool_mode transaction"), std::string::npos) << why;
}

TEST(PostgresqlPooler, SessionModeServesThoseWhoSaySo) {
  if (!has_pgbouncer()) GTEST_SKIP() << "pgbouncer is not installed";
  const Pooler pooler("session");
  EXPECT_NE(refusal(pooler.uri()).find("pooler=session"), std::string::npos);
  register_postgresql();
  const Locks locks = Locks::connect(pooler.uri("?pooler=session"));
  EXPECT_TRUE(locks.lock(next_key("pooled:")).try_acquire(0ms, 1s));
}

class PostgresqlShedlock : public ::testing::Test {
 protected:
  /// As ShedLock's JdbcTemplateLockProvider with usingDbTime.
  bool lock(const std::string& by, const std::string& lease) {
    return !sql_("INSERT INTO shedlock(name, lock_until, locked_at, locked_by) VALUES('" + name_ +
                 "', timezone('utc', CURRENT_TIMESTAMP) + interval '" + lease +
                 "', timezone('utc', CURRENT_TIMESTAMP), '" + by +
                 "') ON CONFLICT (name) DO UPDATE SET lock_until = timezone('utc', "
                 "CURRENT_TIMESTAMP) + interval '" +
                 lease +
                 "', locked_at = timezone('utc', "
                 "CURRENT_TIMESTAMP), locked_by = '" +
                 by +
                 "' WHERE shedlock.lock_until <= "
                 "timezone('utc', CURRENT_TIMESTAMP) RETURNING 1")
                .empty();
  }
  void unlock(const std::string& by) {
    sql_("UPDATE shedlock SET lock_until = timezone('utc', CURRENT_TIMESTAMP) WHERE name = '" +
         name_ + "' AND locked_by = '" + by + "'");
  }

  PostgresqlShedlock() { register_postgresql(); }

  const std::string name_ = next_key("shed:");
  Sql sql_ = shared_server().sql();
  const Locks locks_ = Locks::connect(shared_server().uri("?schema=shedlock"));
};

TEST_F(PostgresqlShedlock, BothExcludeEachOther) {
  std::optional<Hold> hold = locks_.lock(name_).try_acquire(0ms, 60s);
  ASSERT_TRUE(hold);
  EXPECT_FALSE(lock("this-host", "60 s"));
  EXPECT_TRUE(hold->release());
  EXPECT_TRUE(lock("this-host", "60 s"));
  EXPECT_FALSE(locks_.lock(name_).try_acquire(0ms, 1s));
  unlock("this-host");
  EXPECT_TRUE(locks_.lock(name_).try_acquire(0ms, 1s));
}

TEST_F(PostgresqlShedlock, AHoldThatEndedFreesNoRowOfItsSuccessor) {
  std::optional<Hold> hold = locks_.lock(name_).try_acquire(0ms, 200ms);
  ASSERT_TRUE(hold);
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!lock("this-host", "60 s") && std::chrono::steady_clock::now() < end) {
    ::poll(nullptr, 0, 10);
  }
  EXPECT_FALSE(hold->release());
  EXPECT_EQ(sql_.one("SELECT locked_by FROM shedlock WHERE lock_until > timezone('utc', "
                     "CURRENT_TIMESTAMP) AND name = '" +
                     name_ + "'"),
            "this-host");
}

TEST_F(PostgresqlShedlock, ALongKeyIsRefused) {
  try {
    static_cast<void>(locks_.lock(std::string(65, 'x')).try_acquire(0ms, 1s));
    ADD_FAILURE() << "granted";
  } catch (const BackendRefused& error) {
    EXPECT_NE(std::string(error.what()).find("at most 64 characters"), std::string::npos)
        << error.what();
  }
}

// No statement was sent for them, and they were reported as done: the lock was "not locked".
TEST_F(PostgresqlShedlock, AdministrationIsRefused) {
  const auto expect_refused = [](const auto& call) {
    try {
      call();
      ADD_FAILURE() << "not refused";
    } catch (const BackendRefused& error) {
      EXPECT_NE(std::string(error.what()).find("is not offered with ShedLock's table"),
                std::string::npos)
          << error.what();
    }
  };
  const Hold hold = locks_.lock(name_).acquire(0ms, 60s);
  expect_refused([&] { static_cast<void>(locks_.force_release(name_)); });
  expect_refused([&] { static_cast<void>(locks_.inspect(name_)); });
  expect_refused([&] { static_cast<void>(locks_.list()); });
  EXPECT_FALSE(lock("this-host", "60 s"));
}

}  // namespace
}  // namespace latchkey::tests
