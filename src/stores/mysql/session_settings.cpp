// The settings of a session that locks rest on.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/session_settings.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/detail/in_quotes.hpp>

namespace latchkey::inline v1::detail::mysql {
namespace {

using std::chrono::seconds;

/// A transaction waits at most this long for the row of a key: whole seconds, less than a reply may
/// take.
std::string wait_of(std::chrono::milliseconds timeout) {
  return std::to_string(std::max(std::chrono::floor<seconds>(timeout / 2), seconds(1)).count());
}

constexpr std::string_view sql_mode = "STRICT_ALL_TABLES";

/// The value of a variable; empty: the server has none of this name.
std::string_view value_of(const Rows& rows, std::string_view name) noexcept {
  const auto row =
      std::ranges::find_if(rows, [&](const auto& each) { return each.front() == name; });
  return row == rows.end() ? std::string_view() : std::string_view(row->back());
}

}  // namespace

SessionSettings::SessionSettings(std::chrono::milliseconds timeout) : wait_(wait_of(timeout)) {}

// An idle connection is kept for as long as the server permits. The comments are SQL for MariaDB
// and for MySQL.
std::string SessionSettings::text() const {
  return "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED,READ WRITE;SET NAMES utf8mb4;"
         "SET SESSION sql_mode='" +
         std::string(sql_mode) +
         "',autocommit=1,completion_type=0,unique_checks=1,sql_safe_updates=1,sql_big_selects=1,"
         "sql_select_limit=18446744073709551615,wait_timeout=31536000,innodb_lock_wait_timeout=" +
         wait_ + ",lock_wait_timeout=" + wait_ +
         "/*M! ,max_statement_time=0*//*!80000 ,max_execution_time=0*/;"
         "SHOW SESSION VARIABLES WHERE Variable_name IN('autocommit','completion_type',"
         "'tx_isolation','transaction_isolation','tx_read_only','transaction_read_only','sql_mode',"
         "'innodb_lock_wait_timeout','lock_wait_timeout','max_statement_time','max_execution_time',"
         "'sql_safe_updates','sql_select_limit','unique_checks','wsrep_on',"
         "'wsrep_cluster_address')";
}

std::string SessionSettings::verdict(const Rows& rows) const {
  struct Setting {
    std::vector<std::string_view> names;  ///< a server has one of them, or several
    std::string_view value;
    bool is_optional = false;
  };
  const Setting settings[] = {
      {{"autocommit"}, "ON"},
      {{"completion_type"}, "NO_CHAIN"},
      {{"tx_isolation", "transaction_isolation"}, "READ-COMMITTED"},
      {{"tx_read_only", "transaction_read_only"}, "OFF"},
      {{"sql_mode"}, sql_mode},
      {{"innodb_lock_wait_timeout"}, wait_},
      {{"lock_wait_timeout"}, wait_},
      {{"max_statement_time"}, "0.000000", true},
      {{"max_execution_time"}, "0", true},
      {{"sql_safe_updates"}, "ON"},
      {{"sql_select_limit"}, "18446744073709551615"},
      {{"unique_checks"}, "ON"},
  };
  for (const auto& [names, value, is_optional] : settings) {
    bool found = is_optional;
    for (const std::string_view name : names) {
      const std::string_view is = value_of(rows, name);
      found |= !is.empty();
      if (is.empty() || is == value) continue;
      return "the session's setting " + in_quotes(name) + " is " + in_quotes(is) +
             " after latchkey has set " + in_quotes(value) + ": a proxy may keep settings back";
    }
    if (!found)
      return "the server does not report the session's setting " + in_quotes(names.front());
  }
  if (!value_of(rows, "wsrep_cluster_address").empty() && value_of(rows, "wsrep_on") == "OFF") {
    return "the server belongs to a cluster, and wsrep_on=OFF keeps locks from the other nodes";
  }
  return {};
}

}  // namespace latchkey::inline v1::detail::mysql
