// Signals as data: blocked from the first instant on and read by the main loop.
#pragma once

#include <csignal>
#include <optional>

#include "core/file_descriptor.hpp"

namespace latchkey::cli {

/// What a signal does to a process that has not asked for it (signal(7), "standard signals").
enum class DefaultAction : unsigned char { TERMINATE, STOP, NONE };
[[nodiscard]] DefaultAction default_action(int signal) noexcept;

/// Blocks every signal that can be blocked and that the process does not ignore, and hands them
/// out one by one. Signals that the CPU raises (SIGSEGV, SIGFPE and the like) keep their action.
/// SIGPIPE stays blocked and is not handed out: a closed stderr is our own affair.
///
/// Make it before the first thread, which inherits the mask. One per process.
class SignalInbox {
 public:
  /// Throws std::system_error.
  SignalInbox();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  /// The next signal; nothing: none is waiting.
  [[nodiscard]] std::optional<int> next() const noexcept;
  /// Readable while a signal is waiting.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

  /// Gives the calling thread the mask, and the process the disposition of SIGCHLD, that it was
  /// started with: what a child inherits. Async-signal-safe.
  void restore() const noexcept;

 private:
  sigset_t inherited_mask_{};
  struct sigaction inherited_child_action_{};
  detail::FileDescriptor descriptor_;
};

}  // namespace latchkey::cli
