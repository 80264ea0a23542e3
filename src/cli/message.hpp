// Messages for the user: one line each, on stderr.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

namespace latchkey::inline v1::cli {

/// Writes `latchkey: <text>` and a newline to stderr in one write(2), so that lines of several
/// processes do not mix. Control characters of the text are spelled out. A stderr that is closed is
/// ignored.
void print_message(std::string_view text) noexcept;

/// Like print_message, but drops the line if that would wait for the reader of stderr.
void print_message_without_waiting(std::string_view text) noexcept;

}  // namespace latchkey::inline v1::cli
