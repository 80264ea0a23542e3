// Events for poll(2): signals, an alarm, and a wake-up by another thread.
// SPDX-License-Identifier: BSL-1.0
#include "cli/poll_events.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace latchkey::inline v1::cli {
namespace {

bool is_ignored(int signal) noexcept {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

constexpr int raised_by_the_cpu[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

}  // namespace

DefaultAction default_action(int signal) noexcept {
  switch (signal) {
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU: return DefaultAction::stop;
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH: return DefaultAction::none;
    default: return DefaultAction::terminate;
  }
}

SignalInbox::SignalInbox() {
  sigset_t blocked;
  ::sigfillset(&blocked);
  for (const int signal : raised_by_the_cpu) ::sigdelset(&blocked, signal);
  sigset_t handed_out = blocked;
  ::sigdelset(&handed_out, SIGPIPE);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    // A blocked signal is queued even if it is ignored: under nohup, SIGHUP must stay ignored.
    if (signal != SIGCHLD && is_ignored(signal)) {
      ::sigdelset(&blocked, signal);
      ::sigdelset(&handed_out, signal);
    }
  }
  ::sigaddset(&blocked, SIGPIPE);
  ::sigprocmask(SIG_SETMASK, &blocked, &inherited_mask_);
  // If the parent ignored SIGCHLD, the kernel would reap our children.
  struct sigaction reap{};
  reap.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &reap, &inherited_child_action_);
  descriptor_ = detail::FileDescriptor(::signalfd(-1, &handed_out, SFD_CLOEXEC | SFD_NONBLOCK));
  if (descriptor_.get() == -1) {
    throw std::system_error(errno, std::generic_category(), "signalfd");
  }
}

std::optional<int> SignalInbox::next() const noexcept {
  signalfd_siginfo info{};
  for (;;) {
    const ssize_t got = ::read(descriptor_.get(), &info, sizeof info);
    if (got == static_cast<ssize_t>(sizeof info)) return static_cast<int>(info.ssi_signo);
    if (got != -1 || errno != EINTR) return std::nullopt;
  }
}

void SignalInbox::restore() const noexcept {
  ::sigaction(SIGCHLD, &inherited_child_action_, nullptr);
  ::sigprocmask(SIG_SETMASK, &inherited_mask_, nullptr);
}

}  // namespace latchkey::inline v1::cli
