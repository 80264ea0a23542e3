// The errors of MariaDB and MySQL that the store tells apart.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace latchkey::inline v1::detail::mysql {

inline constexpr unsigned too_many_connections = 1040, database_denied = 1044, access_denied = 1045,
                          galera_not_ready = 1047, unknown_database = 1049, shutting_down = 1053,
                          no_such_thread = 1094, not_owner = 1095, host_denied = 1130,
                          table_denied = 1142, column_denied = 1143, no_such_table = 1146,
                          lock_wait_timeout = 1205, deadlock = 1213, privilege_missing = 1227,
                          read_only = 1290, exists_already = 1304, no_such_procedure = 1305,
                          interrupted = 1317, execute_denied = 1370, read_only_mode = 1836,
                          killed = 1927, no_plugin = 2059, timed_out_idle = 4031,
                          plugin_not_allowed = 5010;

/// The server has undone what the transaction did, and would not another time: a row has changed
/// (innodb_snapshot_isolation), there is no room for locks or transactions, or a limit for the time
/// of a statement (MariaDB's, MySQL's) has passed.
inline constexpr unsigned record_changed = 1020, lock_table_full = 1206,
                          too_many_transactions = 1637, statement_too_long = 1969,
                          query_too_long = 3024;

/// Functions that a cluster does not offer.
inline constexpr unsigned not_in_cluster = 1105, not_supported_yet = 1235;

/// An error of this client: a file that the URI names.
inline constexpr unsigned unreadable = 2999;

/// The session is of no further use, although the server has answered.
[[nodiscard]] constexpr bool ends_session(unsigned error) noexcept {
  return error == galera_not_ready || error == shutting_down || error == read_only ||
         error == read_only_mode || error == killed || error == timed_out_idle;
}

/// The user lacks a permission.
[[nodiscard]] constexpr bool is_denied(unsigned error) noexcept {
  return error == table_denied || error == column_denied || error == execute_denied ||
         error == privilege_missing;
}

/// A connection is refused until somebody changes a configuration.
[[nodiscard]] constexpr bool is_permanent(unsigned error) noexcept {
  return error == database_denied || error == access_denied || error == unknown_database ||
         error == host_denied || error == no_plugin || error == plugin_not_allowed ||
         error == unreadable;
}

}  // namespace latchkey::inline v1::detail::mysql
