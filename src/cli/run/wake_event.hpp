// An eventfd: any thread or stop callback wakes the loop that polls it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::cli {

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
