// `latchkey ddl` prints the statements that make a store's tables, or that of the fences.
#include <gtest/gtest.h>

#include <string>

#include <latchkey/fences/sql.hpp>

#include "cli/tool.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

TEST(CliDdl, PrintsTheStatementsOfTheStore) {
  const TemporaryFolder folder;
  EXPECT_EQ(Process(latchkey({"ddl", "postgresql"}), folder.file("log")).wait(), 0);
  const std::string text = folder.read("log");
  EXPECT_NE(text.find("CREATE TABLE IF NOT EXISTS latchkey.lock"), std::string::npos);
  EXPECT_TRUE(text.ends_with("COMMIT;\n")) << text;
}

TEST(CliDdl, PrintsTheTableOfTheFences) {
  const TemporaryFolder folder;
  EXPECT_EQ(Process(latchkey({"ddl", "fences"}), folder.file("log")).wait(), 0);
  EXPECT_EQ(folder.read("log"), fence_sql::ddl);
}

TEST(CliDdl, AStoreWithoutTablesIsAnErrorThatNamesThoseThatHaveSome) {
  const TemporaryFolder folder;
  EXPECT_EQ(Process(latchkey({"ddl", "etcd"}), folder.file("log")).wait(), 64);
  const std::string text = folder.read("log");
  EXPECT_NE(text.find("'etcd'"), std::string::npos) << text;
  EXPECT_NE(text.find("postgresql"), std::string::npos) << text;
}

}  // namespace
}  // namespace latchkey::tests
