// ShedLock's table: both exclude each other, and nobody frees what another has written.
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// The table of ShedLock's documentation.
void make_table() {
  mysql_server().session()(
      "CREATE TABLE IF NOT EXISTS shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT "
      "NULL, locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY "
      "(name))");
}

std::string shedlock_uri() { return mysql_server().uri() + "?schema=shedlock"; }

struct InShedLock {
  InShedLock() { make_table(); }
  std::unique_ptr<Backend> backend() { return make_mysql(shedlock_uri()); }
  std::string fresh_key() { return next_key(); }
  // sleeps: leases end by real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

/// The statements of ShedLock's JdbcTemplateLockProvider with usingDbTime().
class ShedLockPeer {
 public:
  ShedLockPeer(std::string name, std::string host)
      : name_(std::move(name)), host_(std::move(host)) {}

  bool lock(const std::string& microseconds) {
    const std::string until = "TIMESTAMPADD(MICROSECOND, " + microseconds + ", UTC_TIMESTAMP(3))";
    if (session_.changes("INSERT IGNORE INTO shedlock(name, lock_until, locked_at, locked_by) "
                         "VALUES('" +
                         name_ + "', " + until + ", UTC_TIMESTAMP(3), '" + host_ + "')") == 1) {
      return true;
    }
    return session_.changes("UPDATE shedlock SET lock_until = " + until +
                            ", locked_at = UTC_TIMESTAMP(3), locked_by = '" + host_ +
                            "' WHERE name = '" + name_ + "' AND lock_until <= UTC_TIMESTAMP(3)") ==
           1;
  }
  bool unlock() {
    return session_.changes("UPDATE shedlock SET lock_until = UTC_TIMESTAMP(3) WHERE name = '" +
                            name_ + "' AND locked_by = '" + host_ + "'") == 1;
  }

 private:
  MysqlSession session_ = mysql_server().session();
  std::string name_, host_;
};

class MysqlShedLock : public ::testing::Test {
 protected:
  MysqlShedLock() {
    make_table();
    register_mysql();
  }
  const std::string key_ = next_key();
};

TEST_F(MysqlShedLock, BothExcludeEachOther) {
  const Locks locks = Locks::connect(shedlock_uri());
  ShedLockPeer peer(key_, "web-1");
  ASSERT_TRUE(peer.lock("30000000"));
  EXPECT_FALSE(locks.lock(key_).try_acquire(100ms));
  ASSERT_TRUE(peer.unlock());
  Hold hold = locks.lock(key_).acquire(1s, 30s);
  EXPECT_FALSE(peer.lock("30000000"));
  EXPECT_FALSE(peer.unlock());
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(peer.lock("1000"));
}

TEST_F(MysqlShedLock, AnExpiredHoldDoesNotFreeTheNextHolder) {
  const Locks locks = Locks::connect(shedlock_uri());
  ShedLockPeer peer(key_, "web-1");
  Hold hold = locks.lock(key_).acquire(0ms, 100ms);
  std::this_thread::sleep_for(150ms);  // sleeps: the lease ends
  EXPECT_TRUE(hold.lost());
  ASSERT_TRUE(peer.lock("30000000"));
  EXPECT_FALSE(hold.release());
  EXPECT_FALSE(locks.lock(key_).try_acquire());
  EXPECT_TRUE(peer.unlock());
}

TEST_F(MysqlShedLock, ALongNameIsRefused) {
  const Locks locks = Locks::connect(shedlock_uri());
  EXPECT_THROW(static_cast<void>(locks.lock(std::string(65, 'k')).try_acquire()), BackendRefused);
}

TEST_F(MysqlShedLock, AMissingTableIsRefused) {
  try {
    static_cast<void>(make_mysql(shedlock_uri() + "&table=nowhere"));
    FAIL() << "no error";
  } catch (const BackendRefused& error) {
    EXPECT_NE(std::string(error.what()).find("the table `nowhere` is missing"), std::string::npos)
        << error.what();
  }
}

/// A table of ShedLock's with the given type of times, in a database of its own.
std::string make_table_of(const std::string& name, const std::string& type,
                          const std::string& collation) {
  MysqlSession root = mysql_server().session();
  root("DROP TABLE IF EXISTS " + name + "; CREATE TABLE " + name +
       "(name VARCHAR(64) NOT NULL, lock_until " + type + "(3) NOT NULL, locked_at " + type +
       "(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name)) CHARACTER SET " +
       collation.substr(0, collation.find('_')) + " COLLATE " + collation);
  return shedlock_uri() + "&table=" + name;
}

void expect_locks_work(const std::string& uri) {
  const Locks locks = Locks::connect(uri), other = Locks::connect(uri);
  for (const std::string key : {"job",
                                "j\xc3\xb6"
                                "b"}) {
    Hold hold = locks.lock(key).acquire(0ms, 30s);
    EXPECT_FALSE(other.lock(key).try_acquire());
    EXPECT_TRUE(hold.extend(60s));
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(other.lock(key).try_acquire());
  }
}

// The start succeeded, and every lock was refused: "Illegal mix of collations".
TEST_F(MysqlShedLock, EveryCollationWillDo) {
  for (const std::string collation :
       {"utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb4_bin",
        "utf8mb4_uca1400_ai_ci", "utf8mb3_general_ci", "utf16_general_ci", "utf32_unicode_ci",
        "ucs2_general_ci", "latin1_swedish_ci"}) {
    SCOPED_TRACE(collation);
    expect_locks_work(make_table_of("collated", "TIMESTAMP", collation));
  }
}

// The default collation of the server's database, and of the connection, do not matter either.
TEST_F(MysqlShedLock, TheStartUsesTheTable) {
  MysqlSession root = mysql_server().session();
  root(
      "DROP TABLE IF EXISTS narrow; CREATE TABLE narrow(name VARCHAR(8) NOT NULL, lock_until "
      "TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, "
      "PRIMARY KEY (name)); DROP TABLE IF EXISTS more; CREATE TABLE more(name VARCHAR(64) NOT "
      "NULL, lock_until TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL, locked_by "
      "VARCHAR(255) NOT NULL, note INT NOT NULL, PRIMARY KEY (name))");
  for (const std::string table : {"narrow", "more"}) {
    try {
      static_cast<void>(make_mysql(shedlock_uri() + "&table=" + table));
      FAIL() << table;
    } catch (const BackendRefused& error) {
      EXPECT_NE(std::string(error.what()).find("the table `" + table + "` does not take the lock"),
                std::string::npos)
          << error.what();
    }
    EXPECT_EQ(root.one("SELECT COUNT(*) FROM " + table), "0") << "the check has left a row";
  }
}

TEST_F(MysqlShedLock, ANameThatTheTableCannotStoreIsRefused) {
  const Locks locks = Locks::connect(make_table_of("latin", "DATETIME", "latin1_swedish_ci"));
  EXPECT_THROW(static_cast<void>(locks.lock("\xe2\x98\x83").try_acquire()), BackendRefused);
  EXPECT_THROW(static_cast<void>(locks.lock("\xff").try_acquire()), BackendRefused);
  EXPECT_TRUE(locks.lock("plain").try_acquire());
}

/// A server whose zone has set its clocks forward half an hour ago, so that UTC, taken for local
/// time, does not exist now.
MysqlServer& server_in_gap() {
  static MysqlServer server;
  static const bool is_set = [] {
    server.session("mysql")(
        "SET @t = UNIX_TIMESTAMP() - 1800;"
        "INSERT INTO time_zone(time_zone_id, use_leap_seconds) VALUES (9001, 'N');"
        "INSERT INTO time_zone_name VALUES ('Test/Gap', 9001);"
        "INSERT INTO time_zone_transition_type VALUES (9001, 0, 0, 0, 'WIN'), "
        "(9001, 1, 3600, 1, 'SUM');"
        "INSERT INTO time_zone_transition VALUES (9001, 0, 0), (9001, @t, 1);"
        "SET GLOBAL time_zone = 'Test/Gap'");
    return true;
  }();
  static_cast<void>(is_set);
  return server;
}

// Every acquire, renewal and release was refused for an hour.
TEST_F(MysqlShedLock, InTheHourThatClocksLeaveOutLocksWork) {
  for (const std::string type : {"TIMESTAMP", "DATETIME"}) {
    SCOPED_TRACE(type);
    server_in_gap().session()("CREATE TABLE " + type + "s(name VARCHAR(64) NOT NULL, lock_until " +
                              type + "(3) NOT NULL, locked_at " + type +
                              "(3) NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
    const std::string uri = server_in_gap().uri() + "?schema=shedlock&table=" + type + "s";
    expect_locks_work(uri);
    const Locks locks = Locks::connect(uri);
    Hold hold = locks.lock("long").acquire(0ms, 7'200'000ms);  // beyond that hour
    EXPECT_FALSE(hold.lost());
    EXPECT_TRUE(hold.release());
    EXPECT_TRUE(Locks::connect(uri).lock("long").try_acquire());
  }
}

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(MysqlShedLockTable, ::latchkey::tests::InShedLock);
