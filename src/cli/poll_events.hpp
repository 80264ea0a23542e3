// Events for poll(2): signals, an alarm, and a wake-up by another thread.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <system_error>

#include <latchkey/clock.hpp>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::cli {

/// The default action of a signal (signal(7), "standard signals").
enum class DefaultAction : unsigned char { terminate, stop, none };
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

/// A timer that includes the time during which the machine is suspended.
class Alarm {
 public:
  /// Throws std::system_error.
  Alarm() : descriptor_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (descriptor_.get() == -1) {
      throw std::system_error(errno, std::generic_category(), "timerfd_create");
    }
  }

  /// The descriptor becomes readable after `length`. Replaces an earlier setting.
  void set_after(Clock::duration length) const noexcept {
    using std::chrono::seconds;
    constexpr Clock::duration shortest{1};  // zero would disarm the timer
    constexpr Clock::duration longest = std::chrono::hours(24 * 365);
    const Clock::duration bounded = std::clamp(length, shortest, longest);
    itimerspec spec{};
    spec.it_value.tv_sec = std::chrono::duration_cast<seconds>(bounded).count();
    spec.it_value.tv_nsec = (bounded % seconds(1)).count();
    ::timerfd_settime(descriptor_.get(), 0, &spec, nullptr);
  }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  detail::FileDescriptor descriptor_;
};

/// Readable after the first set(), until reset(). Thread-safe.
class WakeEvent {
 public:
  /// Throws std::system_error.
  WakeEvent() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_.get() == -1) {
      throw std::system_error(errno, std::generic_category(), "eventfd");
    }
  }

  void set() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(descriptor_.get(), &one, sizeof one);
  }
  void reset() const noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(descriptor_.get(), &count, sizeof count);
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  detail::FileDescriptor descriptor_;
};

}  // namespace latchkey::inline v1::cli
