// The duties of a shell: the terminal of the command, and children from before the tool.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

#include "cli/poll_events.hpp"

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

/// A script may start an agent and then `exec` the tool, which makes the agent a child of the tool.
/// In such a process this function forks: the new process, which has no children, returns nothing
/// and does the tool's work. The original process forwards signals to it, stops and continues with
/// it, and returns its exit status. Without children the function returns nothing at once.
///
/// Call it before the first thread is started. Throws std::system_error.
[[nodiscard]] std::optional<int> leave_earlier_children(const SignalInbox& signals);

}  // namespace latchkey::inline v1::cli
