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
  std::this_thread::sleep_for(150ms);
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

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(MysqlShedLockTable, ::latchkey::tests::InShedLock);
