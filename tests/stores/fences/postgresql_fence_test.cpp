// The guard in PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/fences/postgresql.hpp>

#include "stores/fences/servers.hpp"
#include "stores/postgresql/postgresql_server.hpp"
#include "support/refusal.hpp"

namespace latchkey::tests {
namespace {

using ::testing::HasSubstr;

/// The connection of a program.
class PostgresqlProgram {
 public:
  PostgresqlProgram() : connection_(PQconnectdb(postgresql_parameters().c_str()), PQfinish) {}

  void operator()(const char* statement) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        PQexec(connection_.get(), statement), PQclear);
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR) {
      throw std::runtime_error(PQerrorMessage(connection_.get()));
    }
    changed_ = PQcmdTuples(result.get());
  }
  void admit(const std::string& key, std::uint64_t token) {
    postgresql::FenceTable(connection_.get()).admit({.key = key, .token = token});
  }
  [[nodiscard]] PGconn* connection() const noexcept { return connection_.get(); }
  /// How many rows the last statement has changed.
  [[nodiscard]] const std::string& changed() const noexcept { return changed_; }

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
  std::string changed_;
};

class PostgresqlFence : public ::testing::Test {
 protected:
  PostgresqlFence() {
    sql_("DROP TABLE IF EXISTS latchkey_seen_fences");
    sql_(std::string(fence_sql::ddl));
  }
  std::string token_of(const std::string& name) {
    return sql_.one("SELECT token FROM latchkey_seen_fences WHERE name = '" + name + "'");
  }

  Sql sql_{postgresql_parameters()};
  PostgresqlProgram one_, two_;
};

TEST_F(PostgresqlFence, RemembersTheHighestCommittedToken) {
  one_("BEGIN");
  one_.admit("order:42", 5);
  one_.admit("order:42", 9);
  one_("COMMIT");
  EXPECT_EQ(token_of("order:42"), "9");
  one_("BEGIN");
  one_.admit("order:42", 9);  // the same holder
  one_.admit("other", 1);
  one_("COMMIT");
  EXPECT_EQ(token_of("other"), "1");
}

TEST_F(PostgresqlFence, RefusesALowerToken) {
  one_("BEGIN");
  one_.admit("order:42", 9);
  one_("COMMIT");
  two_("BEGIN");
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

TEST_F(PostgresqlFence, ATokenOfATransactionThatRolledBackWasNotSeen) {
  one_("BEGIN");
  one_.admit("order:42", 9);
  one_("ROLLBACK");
  two_("BEGIN");
  two_.admit("order:42", 5);
  two_("COMMIT");
  EXPECT_EQ(token_of("order:42"), "5");
}

// Otherwise an old holder could commit after a later one.
TEST_F(PostgresqlFence, TheRowStaysLockedUntilTheEndOfTheTransaction) {
  one_("BEGIN");
  one_.admit("order:42", 9);
  two_("BEGIN");
  two_("SET LOCAL lock_timeout = '50ms'");
  EXPECT_THAT(refusal([&] { two_.admit("order:42", 5); }), HasSubstr("lock timeout"));
  two_("ROLLBACK");
  two_("BEGIN");
  two_.admit("other", 5);  // other keys do not wait
  two_("ROLLBACK");
  one_("COMMIT");
  two_("BEGIN");
  EXPECT_THROW(two_.admit("order:42", 5), FenceRejected);
  two_("ROLLBACK");
}

TEST_F(PostgresqlFence, UnderRepeatableReadALaterTokenIsASerializationFailure) {
  two_("BEGIN ISOLATION LEVEL REPEATABLE READ");
  two_("SELECT 1");
  one_("BEGIN");
  one_.admit("order:42", 9);
  one_("COMMIT");
  EXPECT_THAT(refusal([&] { two_.admit("order:42", 5); }), HasSubstr("could not serialize"));
  two_("ROLLBACK");
}

TEST_F(PostgresqlFence, OutsideATransactionIsAnError) {
  EXPECT_THAT(refusal([&] { one_.admit("order:42", 5); }),
              HasSubstr("the fence order:42/FENCED/5 was not checked: the connection is not in a "
                        "transaction"));
}

TEST_F(PostgresqlFence, AMissingTableIsAnErrorThatNamesTheDdl) {
  sql_("DROP TABLE latchkey_seen_fences");
  one_("BEGIN");
  const std::string text = refusal([&] { one_.admit("order:42", 5); });
  EXPECT_THAT(text, HasSubstr("latchkey_seen_fences\" does not exist"));
  EXPECT_THAT(text, HasSubstr("`latchkey ddl fences` prints the table"));
  one_("ROLLBACK");
}

TEST_F(PostgresqlFence, KeepsAKeyOfAnyBytesAndTheLargestBigint) {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  one_("BEGIN");
  one_.admit("it's a\n\xff/key", largest);
  EXPECT_THAT(refusal([&] { one_.admit("k", largest + 1); }), HasSubstr("the largest bigint"));
  one_("COMMIT");
  EXPECT_EQ(token_of("it%27s%20a%0A%FF%2Fkey"), "9223372036854775807");
}

TEST_F(PostgresqlFence, TheDdlMayRunAgain) {
  one_("BEGIN");
  one_.admit("order:42", 9);
  one_("COMMIT");
  sql_(std::string(fence_sql::ddl));
  EXPECT_EQ(token_of("order:42"), "9");
}

// docs/fencing.md, "SQL".
TEST_F(PostgresqlFence, TheSnippetOfThePageRuns) {
  sql_("DROP TABLE IF EXISTS orders");
  sql_("CREATE TABLE orders (id bigint PRIMARY KEY, state text)");
  sql_("INSERT INTO orders VALUES (42, 'new')");
  const Fence fence{.key = "order:42", .token = 9};
  PGconn* const connection = one_.connection();
  const auto run = [&](const char* statement) { one_(statement); };
  // clang-format off: the page's own lines
  run("BEGIN");
  latchkey::postgresql::FenceTable(connection).admit(fence);   // throws FenceRejected: ROLLBACK
  run("UPDATE orders SET state = 'paid' WHERE id = 42");
  run("COMMIT");
  // clang-format on
  EXPECT_EQ(sql_.one("SELECT state FROM orders"), "paid");
  EXPECT_EQ(token_of("order:42"), "9");
}

// docs/fencing.md, "A column of your own".
TEST_F(PostgresqlFence, AColumnOfTheUsersTableIsAGuardForThisRow) {
  sql_("DROP TABLE IF EXISTS orders");
  sql_("CREATE TABLE orders (id bigint PRIMARY KEY, state text, fence bigint NOT NULL DEFAULT 0)");
  sql_("INSERT INTO orders VALUES (42, 'new')");
  one_("UPDATE orders SET state = 'paid', fence = 9 WHERE id = 42 AND fence <= 9");
  EXPECT_EQ(one_.changed(), "1");
  two_("UPDATE orders SET state = 'late', fence = 5 WHERE id = 42 AND fence <= 5");
  EXPECT_EQ(two_.changed(), "0");
  EXPECT_EQ(sql_.one("SELECT state FROM orders"), "paid");
}

}  // namespace
}  // namespace latchkey::tests
