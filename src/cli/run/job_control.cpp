// The duties of a shell: the terminal of the command, and children from before the tool.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/job_control.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "cli/output.hpp"

namespace latchkey::inline v1::cli {
namespace {

/// Whether this process has a child that has not been waited for.
bool has_children() noexcept {
  siginfo_t unused{};
  return ::waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// The original process, while the new one works. It does for the new process what a shell does for
/// a job.
class OriginalProcess {
 public:
  OriginalProcess(pid_t worker, const SignalInbox& signals, const Terminal& terminal,
                  bool foreground) noexcept
      : worker_(worker), signals_(signals), terminal_(terminal), foreground_(foreground) {}

  /// Returns the exit status of the new process, or 128 + the number of the signal that ended it.
  int wait() const {
    for (;;) {
      if (const std::optional<int> status = reap()) {
        if (foreground_) terminal_.take_back(*status > exit_code::signal_base);
        return *status;
      }
      pollfd event{signals_.descriptor(), POLLIN, 0};
      ::poll(&event, 1, -1);
      forward_signals();
    }
  }

 private:
  /// Also waits for earlier children, as an init process must. Empty: the new process has not
  /// ended.
  [[nodiscard]] std::optional<int> reap() const {
    int status = 0;
    pid_t process = 0;
    while ((process = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
      if (process != worker_) continue;
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      if (WIFSIGNALED(status)) return exit_code::signal_base + WTERMSIG(status);
      if (WIFSTOPPED(status)) follow_stop();
    }
    return std::nullopt;
  }

  /// The new process has stopped, so this one stops until somebody continues it.
  void follow_stop() const {
    if (foreground_) terminal_.take_back(false);
    ::raise(SIGSTOP);
    if (foreground_ && terminal_.in_foreground()) terminal_.give_to(worker_);
    ::kill(worker_, SIGCONT);
  }

  void forward_signals() const {
    while (const std::optional<int> signal = signals_.next()) {
      if (*signal == SIGCHLD || (*signal == SIGWINCH && foreground_)) continue;
      ::kill(worker_, *signal);  // it has not been waited for, so the id is still its own
    }
  }

  pid_t worker_;
  const SignalInbox& signals_;
  const Terminal& terminal_;
  bool foreground_;
};

}  // namespace

std::optional<int> leave_earlier_children(const SignalInbox& signals) {
  if (!has_children()) return std::nullopt;
  const Terminal terminal;
  const bool foreground = terminal.in_foreground();
  const pid_t original = ::getpid();
  const pid_t worker = ::fork();
  if (worker == -1) throw std::system_error(errno, std::generic_category(), "fork");
  // A group of its own: a signal that is sent to the group of the original process is forwarded,
  // and would reach the new process twice otherwise. Both do it, because either may run first.
  ::setpgid(worker, worker);
  if (foreground) terminal.give_to(worker == 0 ? ::getpid() : worker);
  if (worker != 0) return OriginalProcess(worker, signals, terminal, foreground).wait();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != original) ::_exit(exit_code::internal);
  return std::nullopt;
}

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
