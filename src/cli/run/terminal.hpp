// The controlling terminal and its foreground process group.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

namespace latchkey::inline v1::cli {

/// Makes a child's group the terminal's foreground group and takes the foreground back, as a shell
/// does for its jobs. Does nothing without a terminal on stdin. Call give_to and take_back only if
/// this process was in the foreground. SIGTTOU must be blocked.
class Terminal {
 public:
  Terminal() noexcept;

  /// Whether stdin is a terminal and this process is in its foreground now.
  [[nodiscard]] bool in_foreground() const noexcept;
  void give_to(pid_t group) const noexcept;
  /// `restore_modes`: also restores the terminal modes, which a killed child may have changed.
  void take_back(bool restore_modes) const noexcept;

 private:
  std::optional<termios> modes_;
};

}  // namespace latchkey::inline v1::cli
