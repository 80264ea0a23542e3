// The table of key templates that the tests of Python read, too: the same bytes in both languages.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <latchkey/fields.hpp>
#include <latchkey/parsed_key.hpp>

namespace latchkey::tests {
namespace {

enum class AccountKind : std::uint8_t { savings = 3 };

struct TableUser {
  int id = 42;
  std::string name = "Ada L";
  std::optional<std::string> nick{};
  std::vector<std::string> tags{"a", "b"};
  std::map<std::string, int> by_name{{"x", 7}};
  bool active = true;
  AccountKind kind = AccountKind::savings;
  std::chrono::sys_time<std::chrono::milliseconds> born =
      std::chrono::sys_days(std::chrono::year(2024) / 5 / 1) + std::chrono::hours(12) +
      std::chrono::milliseconds(250);
  std::chrono::milliseconds patience{1500};
  std::vector<std::byte> raw{std::byte{0x0a}, std::byte{0xff}};
};
LATCHKEY_FIELDS(TableUser, id, name, nick, tags, by_name, active, kind, born, patience, raw);

std::string joined(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : " ") + key;
  return text;
}

TEST(KeyTable, GivesTheKeysThatPythonGives) {
  std::ifstream table(LATCHKEY_KEY_TABLE);
  const TableUser user;
  const int count = -7;
  int rows = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const BoundKey key =
        bind_key(parse_key(line.substr(0, tab)), schema_of<"user, count", TableUser, int>());
    EXPECT_EQ(joined(key.render_many(argument_pointers(user, count))), line.substr(tab + 1))
        << line;
    ++rows;
  }
  EXPECT_GT(rows, 20);
}

}  // namespace
}  // namespace latchkey::tests
