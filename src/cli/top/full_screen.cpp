// The terminal while a program uses all of it.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/full_screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "cli/connection.hpp"

namespace latchkey::inline v1::cli {
namespace {

void write_all(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the terminal is gone, which poll reports
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

FullScreen::FullScreen() {
  if (::isatty(STDOUT_FILENO) != 1 || ::tcgetattr(STDIN_FILENO, &modes_) != 0) {
    throw UsageError("top: stdin and stdout are not a terminal; expected --once or --json");
  }
  enter();
}

// Signals of the keyboard stay signals, which the main loop reads.
void FullScreen::enter() {
  termios raw = modes_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  write_all("\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J");
  entered_ = true;
}

void FullScreen::leave() noexcept {
  if (!entered_) return;
  write_all("\x1b[?25h\x1b[?1049l");
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_);
  entered_ = false;
}

Size FullScreen::size() const noexcept {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return {};
  return {window.ws_col, window.ws_row};
}

void FullScreen::clear() noexcept { write_all("\x1b[2J"); }

void FullScreen::draw(const std::vector<std::string>& lines) {
  std::string frame = "\x1b[H";
  for (std::size_t index = 0; index < lines.size(); ++index) {
    if (index > 0) frame += "\r\n";
    frame += lines[index];
  }
  write_all(frame);
}

std::string FullScreen::typed() const {
  std::array<char, 256> bytes{};
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : std::string();
}

}  // namespace latchkey::inline v1::cli
