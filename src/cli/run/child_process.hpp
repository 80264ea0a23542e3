// The command that runs under the lock.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/run/signal_inbox.hpp"

namespace latchkey::cli {

struct Command {
  std::vector<std::string> arguments;    ///< the first one is the program, looked for in $PATH
  std::vector<std::string> environment;  ///< "NAME=value", all of it
};

/// A program that could not be started.
struct StartFailure {
  std::string sentence;
  int exit_code;  ///< 126 or 127, as a shell ends
};

/// One child in a process group of its own.
///
/// It starts with the signal mask that this process was started with, with stdin, stdout and stderr
/// passed on, and in the terminal's foreground where `foreground` says so. It is killed when the
/// thread that started it ends, so a tool that is killed leaves no child behind (grandchildren it
/// cannot reach then).
class ChildProcess {
 public:
  /// Throws StartFailure.
  ChildProcess(const Command& command, const SignalInbox& signals, bool foreground);

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  [[nodiscard]] pid_t group() const noexcept { return id_; }

  /// To every process of the group.
  void signal(int number) const noexcept;

 private:
  pid_t id_ = -1;
};

}  // namespace latchkey::cli
