// The settings of a server session that exclusion and replies rest on.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/session_settings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace latchkey::inline v1::detail::postgresql {
namespace {

struct Setting {
  std::string_view name, value;
};

/// latchkey's functions need READ COMMITTED: each statement sees what was committed before it.
/// With row_security = on, a policy would hide rows from the statements; off makes that an error.
/// The tables are small when a plan is made, and may be large or full of dead rows when it is used,
/// so plans use the indexes. Servers lack some of the last ones.
constexpr std::array<Setting, 16> fixed = {{
    {"default_transaction_isolation", "read committed"},
    {"default_transaction_deferrable", "off"},
    {"row_security", "off"},
    {"client_encoding", "UTF8"},
    {"standard_conforming_strings", "on"},
    {"DateStyle", "ISO, YMD"},
    {"IntervalStyle", "postgres"},
    {"TimeZone", "UTC"},
    {"plan_cache_mode", "force_generic_plan"},
    {"enable_seqscan", "off"},
    {"enable_bitmapscan", "off"},
    {"enable_indexscan", "on"},
    {"enable_tidscan", "on"},
    {"jit", "off"},
    {"idle_session_timeout", "0"},
    {"transaction_timeout", "0"},
}};

constexpr std::string_view own_path = "pg_catalog, pg_temp";

/// `('name', 'value'), …`
std::string rows_of_settings(LockSchema schema, std::chrono::milliseconds timeout) {
  std::string rows;
  const auto add = [&](std::string_view name, std::string_view value) {
    rows += rows.empty() ? "('" : "), ('";
    (((rows += name) += "', '") += value) += '\'';
  };
  for (const Setting& each : fixed) add(each.name, each.value);
  if (schema == LockSchema::latchkey) add("search_path", own_path);
  add("lock_timeout", std::to_string(std::max<std::int64_t>(timeout.count() / 2, 1)));
  add("statement_timeout", std::to_string(timeout.count()));
  add("idle_in_transaction_session_timeout", std::to_string(timeout.count()));
  return rows + ')';
}

std::string join_with_settings(LockSchema schema, std::chrono::milliseconds timeout) {
  return " FROM (VALUES " + rows_of_settings(schema, timeout) +
         ") AS w (name, value), pg_catalog.pg_settings s "
         "WHERE s.name OPERATOR(pg_catalog.=) w.name";
}

}  // namespace

// The time limit comes first: the role may have one that is too short for the next statements.
//
// Everybody who may create something in a schema of the search_path can make an operator that fits
// a statement better than the one of pg_catalog, so the path is set before anything is called.
// ShedLock's table is found by the path of the role, so that path follows pg_catalog, and its
// statements say for each operator and function that it is one of pg_catalog.
std::string set_settings(LockSchema schema, std::chrono::milliseconds timeout) {
  const std::string path =
      schema == LockSchema::latchkey
          ? "SET search_path = " + std::string(own_path)
          : "SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', "
            "pg_catalog.current_setting('search_path'), ', pg_temp'), false)";
  return "SET statement_timeout = " + std::to_string(timeout.count()) + "; " + path +
         "; SELECT pg_catalog.set_config(s.name, w.value, false)" +
         join_with_settings(schema, timeout) + "; ";
}

std::string differing_settings(LockSchema schema, std::chrono::milliseconds timeout) {
  return "(SELECT pg_catalog.string_agg(pg_catalog.concat(s.name, ' = ', s.setting), "
         "', '::pg_catalog.text)" +
         join_with_settings(schema, timeout) + " AND s.setting OPERATOR(pg_catalog.<>) w.value)";
}

}  // namespace latchkey::inline v1::detail::postgresql
