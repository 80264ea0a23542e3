// The statements in SQLite, by the module that comes with Python.
#include <gtest/gtest.h>

#include <string>

#include <latchkey/fences/sql.hpp>

#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

constexpr const char* script = R"(
import sqlite3, sys
ddl, statement = sys.argv[1], sys.argv[2]
db = sqlite3.connect(':memory:')
def highest(name, token):
    return db.execute(statement, {'1': name, '2': token}).fetchone()[0]
for again in range(2):
    db.executescript(ddl)
assert highest('order:42', 5) == 5
assert highest('order:42', 9) == 9
assert highest('order:42', 9) == 9
assert highest('order:42', 5) == 9
assert highest('other', 1) == 1
)";

TEST(SqliteFence, TheTableAndTheStatementWork) {
  const TemporaryFolder folder;
  EXPECT_NO_THROW(run(
      {"python3", "-c", script, std::string(fence_sql::ddl), std::string(fence_sql::postgresql)},
      folder.file("log")))
      << folder.read("log");
}

}  // namespace
}  // namespace latchkey::tests
