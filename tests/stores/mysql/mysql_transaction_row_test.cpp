// A row of a table of keys, which docs/fencing.md says to lock instead of a transaction lock.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "stores/mysql/mysql_server.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

/// The page's statement: waits for the row, and keeps it until the transaction ends.
constexpr const char* take_row =
    "INSERT INTO lock_row VALUES ('account:42') ON DUPLICATE KEY UPDATE name = name";

/// Deposits at the same time as another transaction that has deposited 1 and ends while this one
/// waits for its row. Returns the sum that this transaction reads after the wait.
std::string sum_after_wait(const std::string& before_row, const std::string& end) {
  MysqlSession one = mysql_server().session(), two = mysql_server().session();
  one("CREATE OR REPLACE TABLE lock_row (name VARBINARY(1024) PRIMARY KEY) ENGINE = InnoDB");
  one("CREATE OR REPLACE TABLE account (id INT PRIMARY KEY, cents BIGINT) ENGINE = InnoDB");
  one("INSERT INTO account VALUES (42, 0)");
  one("START TRANSACTION");
  one(take_row);
  one("UPDATE account SET cents = cents + 1 WHERE id = 42");
  two("START TRANSACTION");
  if (!before_row.empty()) two(before_row);
  std::future<void> waits = std::async(std::launch::async, [&] { two(take_row); });
  await("a transaction that waits for the row", [] {
    const auto waits_now =
        mysql_server().session()("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
    return waits_now.at(0).at(1) == "1" ? "" : "none";
  });
  one(end);
  waits.get();
  std::string sum = two.one("SELECT cents FROM account WHERE id = 42");
  two("COMMIT");
  return sum;
}

TEST(MysqlTransactionRow, ItEndsWithTheTransaction) {
  EXPECT_EQ(sum_after_wait("", "COMMIT"), "1");
  EXPECT_EQ(sum_after_wait("", "ROLLBACK"), "0");
}

// The control: why it is the first statement.
TEST(MysqlTransactionRow, ASnapshotOfBeforeTheRowDoesNotSeeTheLastCommit) {
  EXPECT_EQ(sum_after_wait("SELECT cents FROM account WHERE id = 42", "COMMIT"), "0");
}

}  // namespace
}  // namespace latchkey::tests
