// The command that `latchkey run` starts for a worker: `latchkey_chaos --held`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace latchkey::chaos {

/// The report of the command when it starts: its id, and the variables that the tool has set.
struct HeldReport {
  pid_t process = -1;
  std::string key, owner;
  std::optional<std::uint64_t> token{};
  std::int64_t deadline_s = 0;  ///< since 1970

  /// A line, with its end, as `parse` reads it.
  [[nodiscard]] std::string text() const;
  /// Throws std::runtime_error with a line that is none.
  static HeldReport parse(const std::string& line);
};

/// The byte that the command writes at once when it gets SIGTERM.
inline constexpr char told_to_end = 'T';

/// Writes a HeldReport to stdout, and ends when its stdin is closed. SIGTERM does not end it.
/// Returns the exit status.
int run_held_command();

}  // namespace latchkey::chaos
