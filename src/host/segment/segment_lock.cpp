// The mutex of a segment, which survives the process that holds it.
// SPDX-License-Identifier: BSL-1.0
#include "host/segment/segment_lock.hpp"

#include <string>

#include "core/futex.hpp"

namespace latchkey::inline v1::detail::host {
namespace {

constexpr timespec slice{.tv_sec = 0, .tv_nsec = 500'000};
/// A change takes less than a microsecond: it is often over before a thread has gone to sleep.
constexpr int spins = 100;

}  // namespace

void SegmentLock::wait(std::uint32_t me, const IsDead& is_dead) {
  for (int spin = 0; spin < spins; ++spin) {
    std::uint32_t free = 0;
    if (word_.compare_exchange_weak(free, me, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return;
    }
    __builtin_ia32_pause();
  }
  for (int slices = 0; slices < 2 * longest_wait_ms;) {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    if (seen == 0) {
      // Others may still sleep: the unlock wakes one of them.
      if (word_.compare_exchange_weak(seen, me | somebody_waits, std::memory_order_acquire)) return;
      continue;
    }
    if ((seen & somebody_waits) == 0 &&
        !word_.compare_exchange_weak(seen, seen | somebody_waits, std::memory_order_relaxed)) {
      continue;
    }
    seen |= somebody_waits;
    futex_wait_shared(word_, seen, slice);
    if (word_.load(std::memory_order_relaxed) != seen) continue;
    ++slices;
    if (is_dead((seen & ~somebody_waits) - 1) &&
        word_.compare_exchange_strong(seen, me | somebody_waits, std::memory_order_acquire)) {
      return;
    }
  }
  const std::uint32_t holder = word_.load(std::memory_order_relaxed) & ~somebody_waits;
  throw Unusable("a process stands still in the middle of a change (slot " +
                 std::to_string(holder) + "): continue it (kill -CONT) or end it");
}

void SegmentLock::wake_one() noexcept { futex_wake_shared(word_); }

}  // namespace latchkey::inline v1::detail::host
