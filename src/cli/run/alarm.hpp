// A timer for poll(2) that includes the time during which the machine is suspended.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>

#include <latchkey/clock.hpp>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::cli {

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

}  // namespace latchkey::inline v1::cli
