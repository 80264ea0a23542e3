// The settings of a session that locks rest on, at a server that has each of them otherwise.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/locks.hpp>

#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"
#include "stores/mysql/session_settings.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::mysql::Rows;
using detail::mysql::SessionSettings;

/// A server with settings that an administrator or a log-in may make. `init_connect` runs for users
/// without SUPER.
MysqlServer& adverse_server() {
  static MysqlServer server({"--innodb-rollback-on-timeout=1"});
  static const bool is_set = [] {
    server.session("mysql")(
        "SET GLOBAL init_connect='SET timestamp=1000000000, unique_checks=0, sql_big_selects=0, "
        "character_set_results=utf16', GLOBAL completion_type=CHAIN, GLOBAL autocommit=0, GLOBAL "
        "tx_isolation='SERIALIZABLE', GLOBAL tx_read_only=1, GLOBAL "
        "sql_mode='ANSI,EMPTY_STRING_IS_NULL', GLOBAL max_statement_time=0.3, GLOBAL "
        "lock_wait_timeout=1, GLOBAL innodb_lock_wait_timeout=1, GLOBAL sql_select_limit=1, GLOBAL "
        "time_zone='+05:30'");
    return true;
  }();
  static_cast<void>(is_set);
  return server;
}

/// A session of root's at that server, as any other server's.
struct AdverseRoot : MysqlSession {
  AdverseRoot() : MysqlSession(adverse_server().socket(), "root", "app") {
    (*this)(
        "SET SESSION completion_type=0, autocommit=1, max_statement_time=0, "
        "sql_select_limit=DEFAULT, sql_mode=''; SET SESSION TRANSACTION ISOLATION LEVEL READ "
        "COMMITTED, READ WRITE");
  }
};

class MysqlSettings : public ::testing::Test {
 protected:
  MysqlSettings() { register_mysql(); }
  const std::string key_ = next_key();
};

// The COMMIT of a sweep began the next transaction, in which a free lock was taken.
TEST_F(MysqlSettings, AGrantIsCommittedAndLastsWithoutItsConnection) {
  const Locks locks = Locks::connect(adverse_server().uri());
  for (int more = 0; more < 3; ++more) {
    EXPECT_TRUE(locks.lock(next_key()).try_acquire());
  }
  const Hold hold = locks.lock(key_).acquire(0ms, 60s);
  const std::string held = "SELECT COUNT(*) FROM latchkey_locks WHERE name='" + key_ + "'";
  EXPECT_EQ(AdverseRoot().one(held), "1");
  EXPECT_GT(adverse_server().disconnect_users(), 0);
  EXPECT_EQ(AdverseRoot().one(held), "1");
  EXPECT_FALSE(Locks::connect(adverse_server().uri()).lock(key_).try_acquire());
}

TEST_F(MysqlSettings, AllLockTypesWorkAtAnAdverseServer) {
  const Locks locks = Locks::connect(adverse_server().uri());
  const Locks other = Locks::connect(adverse_server().uri());
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    SCOPED_TRACE(to_string(type));
    Hold hold = locks.lock(key_, type).acquire(5s, 60s);
    EXPECT_FALSE(other.lock(key_, LockType::WRITE).try_acquire());
    EXPECT_TRUE(hold.extend(60s));
    EXPECT_TRUE(hold.release());
  }
  const std::vector<Hold> holds = [&] {
    std::vector<Hold> all;
    for (const char* key : {"a:1", "a:2", "a:3"}) all.push_back(locks.lock(key).acquire(5s, 60s));
    return all;
  }();
  EXPECT_EQ(other.list("a:*").size(), holds.size()) << "a limit of rows";
}

// All sessions would have ended their leases by a time of their own.
TEST_F(MysqlSettings, TheClockOfASessionGoesOn) {
  const Locks locks = Locks::connect(adverse_server().uri());
  const Hold hold = locks.lock(key_).acquire(5s, 60s);
  EXPECT_EQ(AdverseRoot().one("SELECT ends DIV 1000000 - UNIX_TIMESTAMP() BETWEEN 30 AND 61 FROM "
                              "latchkey_locks WHERE name='" +
                              key_ + "'"),
            "1");
}

// With max_statement_time the acquire was refused instead of waiting.
TEST_F(MysqlSettings, ALimitForTheTimeOfStatementsDoesNotEndAWait) {
  const Locks locks = Locks::connect(adverse_server().uri(), {.command_timeout = 20s});
  AdverseRoot session;
  session("INSERT INTO latchkey_locks (name, mode, owner, ends) VALUES ('" + key_ +
          "', 1, 'x', 1); START TRANSACTION; SELECT * FROM latchkey_locks WHERE name='" + key_ +
          "' FOR UPDATE");
  auto waiter =
      std::async(std::launch::async, [&] { return locks.lock(key_).try_acquire(20s).has_value(); });
  std::this_thread::sleep_for(600ms);  // sleeps: longer than the limit
  session("COMMIT");
  EXPECT_TRUE(waiter.get());
}

Rows good_rows() {
  return {{"autocommit", "ON"},
          {"completion_type", "NO_CHAIN"},
          {"innodb_lock_wait_timeout", "1"},
          {"lock_wait_timeout", "1"},
          {"max_statement_time", "0.000000"},
          {"sql_mode", "STRICT_ALL_TABLES"},
          {"sql_safe_updates", "ON"},
          {"sql_select_limit", "18446744073709551615"},
          {"transaction_isolation", "READ-COMMITTED"},
          {"transaction_read_only", "OFF"},
          {"tx_isolation", "READ-COMMITTED"},
          {"tx_read_only", "OFF"},
          {"unique_checks", "ON"},
          {"wsrep_cluster_address", "gcomm://a,b"},
          {"wsrep_on", "ON"}};
}

TEST(MysqlSessionSettings, EachIsReadBack) {
  const SessionSettings settings(2s);
  EXPECT_EQ(settings.verdict(good_rows()), "");
  for (std::size_t at = 0; at < good_rows().size(); ++at) {
    Rows rows = good_rows();
    const std::string name = rows[at].front();
    if (name == "wsrep_cluster_address") continue;
    rows[at].back() = "OFF";
    if (name.ends_with("read_only")) rows[at].back() = "ON";
    const std::string why = settings.verdict(rows);
    EXPECT_NE(why.find(name), std::string::npos) << name << ": " << why;
  }
}

TEST(MysqlSessionSettings, OneThatTheServerDoesNotReportIsMissed) {
  const SessionSettings settings(2s);
  for (const std::string name : {"autocommit", "completion_type", "sql_mode", "unique_checks"}) {
    Rows rows = good_rows();
    std::erase_if(rows, [&](const auto& row) { return row.front() == name; });
    EXPECT_NE(settings.verdict(rows).find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace latchkey::tests
