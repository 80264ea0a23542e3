// Why a server cannot be used.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

namespace latchkey::inline v1::detail {

/// Why there is no connection. The text is a clause without a full stop. It contains neither user
/// nor password.
struct ConnectionFailure {
  /// The server rejects this client, and will until somebody changes a configuration.
  bool permanent = false;
  std::string text;
  bool nothing_listens = false;  ///< the system refuses the connection at once

  /// Whether it is in vain to wait a moment for a connection.
  [[nodiscard]] bool is_certain() const noexcept { return permanent || nothing_listens; }
};

/// The text of Backend::warning about a server without a connection. `server`: its name, a colon
/// and a space; or empty.
[[nodiscard]] inline std::string warning_of(const ConnectionFailure& failure,
                                            const std::string& server = {}) {
  return server +
         (failure.permanent ? "it refuses, and so do its locks: "
                            : "it cannot be reached now, and grants locks as soon as it can: ") +
         failure.text;
}

/// The text of Backend::warning while neither a connection nor a failure is known.
inline constexpr std::string_view silence_warning =
    "it has not answered yet, and grants locks as soon as it does";

/// Memory has run out. Needs none itself: the text is short.
[[nodiscard]] inline ConnectionFailure no_memory() noexcept {
  return {.permanent = false, .text = "out of memory"};
}

}  // namespace latchkey::inline v1::detail
