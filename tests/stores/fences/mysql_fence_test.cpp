// The guard in MariaDB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/fences/mysql.hpp>

#include "stores/fences/servers.hpp"
#include "stores/mysql/mysql_server.hpp"
#include "support/refusal.hpp"

namespace latchkey::tests {
namespace {

using ::testing::HasSubstr;

/// The connection of a program.
class MysqlProgram {
 public:
  MysqlProgram() : connection_(mysql_init(nullptr), mysql_close) {
    if (mysql_real_connect(connection_.get(), "localhost", "owner", "owner", "app", 0,
                           mysql_socket().c_str(), 0) == nullptr) {
      throw std::runtime_error(mysql_error(connection_.get()));
    }
  }

  void operator()(const std::string& statement) {
    if (mysql_real_query(connection_.get(), statement.data(), statement.size()) != 0) {
      throw std::runtime_error(mysql_error(connection_.get()));
    }
  }
  void admit(const std::string& key, std::uint64_t token) {
    mysql::FenceTable(connection_.get()).admit({.key = key, .token = token});
  }

 private:
  std::unique_ptr<MYSQL, void (*)(MYSQL*)> connection_;
};

class MysqlFence : public ::testing::Test {
 protected:
  MysqlFence() {
    one_("DROP TABLE IF EXISTS latchkey_seen_fences");
    one_(std::string(fence_sql::ddl));
  }
  std::string token_of(const std::string& name) {
    return MysqlSession(mysql_socket(), "root", "app")
        .one("SELECT token FROM latchkey_seen_fences WHERE name = '" + name + "'");
  }

  MysqlProgram one_, two_;
};

TEST_F(MysqlFence, RemembersTheHighestCommittedToken) {
  one_("START TRANSACTION");
  one_.admit("order:42", 5);
  one_.admit("order:42", 9);
  one_("COMMIT");
  EXPECT_EQ(token_of("order:42"), "9");
  one_("START TRANSACTION");
  one_.admit("order:42", 9);  // the same holder
  one_.admit("ORDER:42", 1);  // another key
  one_("COMMIT");
  EXPECT_EQ(token_of("ORDER:42"), "1");
  EXPECT_EQ(token_of("order:42"), "9");
}

TEST_F(MysqlFence, RefusesALowerToken) {
  one_("START TRANSACTION");
  one_.admit("order:42", 9);
  one_("COMMIT");
  two_("START TRANSACTION");
  try {
    two_.admit("order:42", 5);
    FAIL() << "not refused";
  } catch (const FenceRejected& error) {
    EXPECT_EQ(error.key(), "order:42");
    EXPECT_EQ(error.presented(), 5U);
    EXPECT_EQ(error.highest(), 9U);
  }
  two_("ROLLBACK");
  EXPECT_EQ(token_of("order:42"), "9");
}

TEST_F(MysqlFence, SeesATokenThatWasCommittedAfterItsSnapshot) {
  two_("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  one_("START TRANSACTION");
  one_.admit("order:42", 9);
  one_("COMMIT");
  EXPECT_THROW(two_.admit("order:42", 5), Error);
  two_("ROLLBACK");
  EXPECT_EQ(token_of("order:42"), "9");
}

TEST_F(MysqlFence, ATokenOfATransactionThatRolledBackWasNotSeen) {
  one_("START TRANSACTION");
  one_.admit("order:42", 9);
  one_("ROLLBACK");
  two_("START TRANSACTION");
  two_.admit("order:42", 5);
  two_("COMMIT");
  EXPECT_EQ(token_of("order:42"), "5");
}

// Otherwise an old holder could commit after a later one.
TEST_F(MysqlFence, TheRowStaysLockedUntilTheEndOfTheTransaction) {
  one_("START TRANSACTION");
  one_.admit("order:42", 9);
  two_("SET innodb_lock_wait_timeout = 1");
  two_("START TRANSACTION");
  EXPECT_THAT(refusal([&] { two_.admit("order:42", 5); }), HasSubstr("Lock wait timeout"));
  two_("ROLLBACK");
  one_("COMMIT");
  two_("START TRANSACTION");
  EXPECT_THROW(two_.admit("order:42", 5), FenceRejected);
  two_("ROLLBACK");
}

TEST_F(MysqlFence, NeedsATransactionOrAConnectionWithoutAutocommit) {
  EXPECT_THAT(refusal([&] { one_.admit("order:42", 5); }),
              HasSubstr("the fence order:42/FENCED/5 was not checked: the connection is not in a "
                        "transaction"));
  one_("SET autocommit = 0");
  one_.admit("order:42", 5);
  one_("COMMIT");
  EXPECT_EQ(token_of("order:42"), "5");
}

TEST_F(MysqlFence, AMissingTableIsAnErrorThatNamesTheDdl) {
  one_("DROP TABLE latchkey_seen_fences");
  one_("START TRANSACTION");
  const std::string text = refusal([&] { one_.admit("order:42", 5); });
  EXPECT_THAT(text, HasSubstr("latchkey_seen_fences' doesn't exist"));
  EXPECT_THAT(text, HasSubstr("`latchkey ddl fences` prints the table"));
  one_("ROLLBACK");
}

TEST_F(MysqlFence, KeepsAKeyOfAnyBytesAndTheLargestBigint) {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  one_("START TRANSACTION");
  one_.admit("it's a\n\xff/key\\?", largest);
  one_.admit(std::string(1024, '\xff'), 1);  // the longest key
  EXPECT_THAT(refusal([&] { one_.admit("k", largest + 1); }), HasSubstr("the largest bigint"));
  one_("COMMIT");
  EXPECT_EQ(token_of("it%27s%20a%0A%FF%2Fkey%5C?"), "9223372036854775807");
}

TEST_F(MysqlFence, TheDdlMayRunAgain) {
  one_("START TRANSACTION");
  one_.admit("order:42", 9);
  one_("COMMIT");
  one_(std::string(fence_sql::ddl));
  EXPECT_EQ(token_of("order:42"), "9");
}

}  // namespace
}  // namespace latchkey::tests
