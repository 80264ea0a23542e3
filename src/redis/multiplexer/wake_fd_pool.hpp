// Spare eventfds for threads that sleep in poll(2).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/eventfd.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::detail::redis {

/// Lends wake-up descriptors and keeps those that come back. Not thread-safe.
class WakeFdPool {
 public:
  /// Throws std::bad_alloc.
  WakeFdPool() { spare_.reserve(max_spare); }

  /// Invalid if the system has no descriptor left.
  [[nodiscard]] FileDescriptor take() noexcept {
    if (spare_.empty()) return FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    FileDescriptor wake_fd = std::move(spare_.back());
    spare_.pop_back();
    return wake_fd;
  }

  void give_back(FileDescriptor wake_fd) noexcept {
    if (wake_fd.valid() && spare_.size() < spare_.capacity()) spare_.push_back(std::move(wake_fd));
  }

  void clear() noexcept { spare_.clear(); }

 private:
  static constexpr std::size_t max_spare = 16;

  std::vector<FileDescriptor> spare_;
};

}  // namespace latchkey::inline v1::detail::redis
