// Fencing tokens of WRITE and FAIR in MariaDB.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

TEST(MysqlTokens, OldProceduresStillServeLocksAndRefuseTokensWithTheCure) {
  MysqlSession root = mysql_server().session("mysql");
  root(
      "CREATE DATABASE untokened; GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON untokened.* TO "
      "locks");
  mysql_server().create("untokened");
  mysql_server().session("untokened")("DROP PROCEDURE latchkey_give_token");
  register_mysql();
  const Locks locks = Locks::connect(mysql_server().uri("untokened"));
  for (const LockType type : {LockType::FAIR, LockType::WRITE}) {
    EXPECT_TRUE(locks.acquire("k", {.type = type}).release());
    try {
      static_cast<void>(locks.acquire("k", {.type = type, .fenced = true}));
      ADD_FAILURE() << to_string(type);
    } catch (const BackendRefused& error) {
      EXPECT_NE(std::string(error.what())
                    .find("lacks latchkey's procedures for fencing tokens of WRITE and FAIR: run "
                          "`latchkey ddl mysql | mysql <database>` again"),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_TRUE(locks.acquire("k", {.type = LockType::FENCED}).fence());
  EXPECT_FALSE(locks.inspect("k").locked);
  mysql_server().create("untokened");
  EXPECT_TRUE(locks.acquire("k", {.type = LockType::WRITE, .fenced = true}).fence());
}

// The procedure of an acquire that finds the key busy is told of tokens in each case.
TEST(MysqlTokens, AnAcquireWithoutATokenLeavesNoRowOfTokens) {
  register_mysql();
  const Locks one = Locks::connect(mysql_server().uri());
  const Locks other = Locks::connect(mysql_server().uri());
  for (const LockType type : {LockType::FAIR, LockType::WRITE}) {
    const std::string key = next_key();
    Hold held = one.acquire(key, {.type = type, .lease = 200ms});
    EXPECT_FALSE(other.acquire(key, {.type = type, .wait = 10s}).fence());
    EXPECT_EQ(mysql_server().session().one("SELECT COUNT(*) FROM latchkey_fences WHERE name = '" +
                                           key + "'"),
              "0");
    EXPECT_TRUE(other.acquire(key, {.type = type, .fenced = true}).fence());
    EXPECT_FALSE(held.release());
  }
}

}  // namespace
}  // namespace latchkey::tests
