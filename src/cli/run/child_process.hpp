// The command that runs under the lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/poll_events.hpp"

namespace latchkey::inline v1::cli {

struct Command {
  std::vector<std::string> arguments;    ///< the first one is the program, searched in $PATH
  std::vector<std::string> environment;  ///< "NAME=value"; the whole environment
};

/// A program that could not be started.
struct StartFailure {
  std::string sentence;
  int exit_code;  ///< 126 or 127, as in a shell
};

/// One child in a process group of its own.
///
/// It starts with the signal mask that this process was started with and inherits stdin, stdout and
/// stderr. With `foreground` its group becomes the terminal's foreground group. The kernel kills it
/// when the thread that started it ends, so that a killed tool leaves no child (but possibly
/// grandchildren).
class ChildProcess {
 public:
  /// Throws StartFailure.
  ChildProcess(const Command& command, const SignalInbox& signals, bool foreground);

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  [[nodiscard]] pid_t group() const noexcept { return id_; }

  /// Sends a signal to every process of the group.
  void signal(int number) const noexcept;

 private:
  pid_t id_ = -1;
};

}  // namespace latchkey::inline v1::cli
