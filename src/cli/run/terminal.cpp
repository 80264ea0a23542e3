// The controlling terminal and its foreground process group.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/terminal.hpp"

#include <unistd.h>

namespace latchkey::inline v1::cli {

Terminal::Terminal() noexcept {
  termios modes{};
  if (::tcgetattr(STDIN_FILENO, &modes) == 0) modes_ = modes;
}

bool Terminal::in_foreground() const noexcept {
  return modes_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

void Terminal::give_to(pid_t group) const noexcept {
  if (modes_) ::tcsetpgrp(STDIN_FILENO, group);
}

void Terminal::take_back(bool restore_modes) const noexcept {
  if (!modes_) return;
  ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
  if (restore_modes) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*modes_);
}

}  // namespace latchkey::inline v1::cli
