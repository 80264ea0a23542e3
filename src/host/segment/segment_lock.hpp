// The mutex of a segment, which survives the process that holds it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "host/segment/segment_format.hpp"

namespace latchkey::inline v1::detail::host {

/// A futex whose word names the slot of the process that holds it. A process that waits asks every
/// half a millisecond whether the holder is dead, and then takes over; the change that the holder
/// has begun is undone by the journal.
///
/// No robust mutex of POSIX, for three reasons: it belongs to a thread, and costs three times as
/// much without contention; its layout is the C library's; and its word has a thread id, which two
/// pid namespaces give twice.
class SegmentLock {
 public:
  using IsDead = std::function<bool(std::size_t slot)>;
  /// For so long a request waits for a process that stands still in the middle of a change.
  static constexpr int longest_wait_ms = 2'000;

  /// `slot`: that of the caller. `is_dead`: whether the process of another slot is; it is called
  /// without the lock. Throws Unusable after `longest_wait_ms`.
  SegmentLock(HalfWord& word, std::size_t slot, const IsDead& is_dead) : word_(word) {
    std::uint32_t free = 0;
    const auto me = static_cast<std::uint32_t>(slot + 1);
    if (!word_.compare_exchange_strong(free, me, std::memory_order_acquire,
                                       std::memory_order_relaxed)) [[unlikely]] {
      wait(me, is_dead);
    }
  }
  SegmentLock(const SegmentLock&) = delete;
  SegmentLock& operator=(const SegmentLock&) = delete;
  ~SegmentLock() {
    if ((word_.exchange(0, std::memory_order_release) & somebody_waits) != 0) [[unlikely]] {
      wake_one();
    }
  }

 private:
  static constexpr std::uint32_t somebody_waits = 0x80000000;

  void wait(std::uint32_t me, const IsDead& is_dead);
  void wake_one() noexcept;

  HalfWord& word_;
};

}  // namespace latchkey::inline v1::detail::host
