// How the tool answers: messages on stderr, text and JSON on stdout, and exit statuses.
// SPDX-License-Identifier: BSL-1.0
#include "cli/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <string>

#include "core/text/printable.hpp"

namespace latchkey::inline v1::cli {

void print_message(std::string_view text) noexcept {
  try {
    std::string line = "latchkey: ";
    line += detail::printable(text);
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
      if (written <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  } catch (const std::bad_alloc&) {
    static constexpr std::string_view short_line = "latchkey: out of memory\n";
    [[maybe_unused]] const ssize_t written =
        ::write(STDERR_FILENO, short_line.data(), short_line.size());
  }
}

void print_message_without_waiting(std::string_view text) noexcept {
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0) print_message(text);
}

void write_out(std::string_view text) noexcept { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace latchkey::inline v1::cli
