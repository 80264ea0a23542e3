// Signals as data: blocked from the start of the process and read by the main loop.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <csignal>
#include <optional>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::cli {

/// The default action of a signal (signal(7), "standard signals").
enum class DefaultAction : unsigned char { TERMINATE, STOP, NONE };
[[nodiscard]] DefaultAction default_action(int signal) noexcept;

/// Blocks every signal that can be blocked and that the process does not ignore, and returns them
/// one by one. Signals that the CPU raises (SIGSEGV, SIGFPE and the like) keep their action.
/// SIGPIPE stays blocked and is not returned: the tool itself handles a closed stderr.
///
/// Make it before the first thread, which inherits the mask. One per process.
class SignalInbox {
 public:
  /// Throws std::system_error.
  SignalInbox();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  /// The next pending signal; empty: none is pending.
  [[nodiscard]] std::optional<int> next() const noexcept;
  /// Readable while a signal is pending.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

  /// Restores the signal mask of the calling thread and the process's disposition of SIGCHLD to
  /// those at the start of the process, for a child to inherit. Async-signal-safe.
  void restore() const noexcept;

 private:
  sigset_t inherited_mask_{};
  struct sigaction inherited_child_action_{};
  detail::FileDescriptor descriptor_;
};

}  // namespace latchkey::inline v1::cli
