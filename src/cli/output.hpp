// How the tool answers: messages on stderr, text and JSON on stdout, and exit statuses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace latchkey::inline v1::cli {

/// Writes `latchkey: <text>` and a newline to stderr in one write(2), so that lines of several
/// processes do not mix. Control characters of the text are spelled out. A stderr that is closed is
/// ignored.
void print_message(std::string_view text) noexcept;

/// Like print_message, but drops the line if that would wait for the reader of stderr.
void print_message_without_waiting(std::string_view text) noexcept;

/// Writes `text` to stdout.
void write_out(std::string_view text) noexcept;

/// The object and a newline. Keys are bytes: what is not UTF-8 becomes the replacement character.
inline std::string json_line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

/// Exit statuses of the tool itself. In all other cases `latchkey run` ends as its child: with the
/// child's status, or 128 + the number of the signal that ended it.
namespace exit_code {
inline constexpr int success = 0;
inline constexpr int failure = 1;           ///< `check`: errors; `revoke`: nobody asked; not locked
inline constexpr int usage = 64;            ///< EX_USAGE: the command line itself is wrong
inline constexpr int unavailable = 69;      ///< EX_UNAVAILABLE: the backend did not reply
inline constexpr int internal = 70;         ///< EX_SOFTWARE: a system call failed
inline constexpr int busy = 75;             ///< EX_TEMPFAIL: the lock was busy for the whole wait
inline constexpr int lost = 76;             ///< the lock was lost while the child ran, or before
inline constexpr int refused = 77;          ///< EX_NOPERM: the backend rejected the request
inline constexpr int not_executable = 126;  ///< as in a shell
inline constexpr int not_found = 127;       ///< as in a shell
inline constexpr int signal_base = 128;     ///< 128 + n: signal n
}  // namespace exit_code

}  // namespace latchkey::inline v1::cli
