// The parts that all layouts of locks in a database share.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/layout.hpp"

#include <algorithm>
#include <charconv>

#include "stores/mysql/native_layout.hpp"
#include "stores/mysql/server_errors.hpp"
#include "stores/mysql/shedlock_layout.hpp"

namespace latchkey::inline v1::detail::mysql {

using std::chrono::milliseconds;

std::unique_ptr<Layout> Layout::make(const MysqlUri& uri) {
  if (uri.schema == LockSchema::shedlock) return std::make_unique<ShedlockLayout>(uri);
  return std::make_unique<NativeLayout>();
}

void append_bytes(std::string& sql, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  sql += "x'";
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    sql += digits[byte >> 4U];
    sql += digits[byte & 15U];
  }
  sql += '\'';
}

std::int64_t microseconds_of(milliseconds time) noexcept {
  constexpr auto century = std::chrono::duration_cast<milliseconds>(std::chrono::years(100));
  return std::chrono::microseconds(std::clamp(time, milliseconds(0), century)).count();
}

std::uint64_t token_in(std::string_view cell) noexcept {
  std::uint64_t number = 0;
  std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return number;
}

milliseconds pause_of(std::int64_t left_microseconds, milliseconds poll) noexcept {
  if (left_microseconds <= 0) return poll;
  const auto left = std::chrono::ceil<milliseconds>(std::chrono::microseconds(left_microseconds));
  return std::min(left, poll);
}

std::string error_text(const SqlError& error) {
  switch (error.number) {
    case access_denied: return "the server rejects the user or the password";
    case database_denied: return "the user may not use the database";
    case host_denied: return "the server accepts no connection from this host";
    case unknown_database: return "the database does not exist";
    case table_denied:
    case column_denied:
    case execute_denied:
      return "the user lacks a permission: GRANT SELECT, INSERT, UPDATE, DELETE ON the tables of "
             "latchkey, and EXECUTE ON the database's procedures of latchkey";
    case plugin_not_allowed:
      return "the server asks for a way to log in that is refused, such as the password in the "
             "clear without TLS (tls_ca)";
    case privilege_missing: return "the user lacks a privilege";
    default: return "the server reports: " + error.text;
  }
}

}  // namespace latchkey::inline v1::detail::mysql
