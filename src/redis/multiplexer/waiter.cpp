// How a thread inside a ConnectionMultiplexer sleeps, and what wakes it.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/waiter.hpp"

#include <sys/eventfd.h>

namespace latchkey::inline v1::detail::redis {

Parker::Wake Waiter::add(Reasons reason) noexcept {
  const Reasons before = reasons_.fetch_or(reason, std::memory_order_acq_rel);
  if (before != 0 || awake_.load(std::memory_order_relaxed)) return {};
  const int wake_fd = wake_fd_.load(std::memory_order_relaxed);
  if (wake_fd < 0) return wait_set_.wake(slot_);
  ::eventfd_write(wake_fd, 1);
  return {};
}

}  // namespace latchkey::inline v1::detail::redis
