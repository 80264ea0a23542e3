// The time from which on a hold is lost.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail {

/// A time that its holder's threads compare with their clock while the coordinator moves it. A
/// thread that sees it pass marks it: it has then passed for all threads and for ever, even if the
/// coordinator, which read its clock earlier, is moving it for a renewal. Otherwise that thread
/// would see a loss that is taken back.
///
/// | state     | next states                                 |
/// |-----------|---------------------------------------------|
/// | some time | a later time (`move`), passed (`passed_by`) |
/// | passed    | some time, of the next hold (`set`)         |
class LocalDeadline {
 public:
  [[nodiscard]] Clock::time_point time() const noexcept {
    return Clock::time_point(Clock::duration(time_.load(std::memory_order_acquire) & ~passed));
  }

  /// Whether it has passed, now or ever before. Any thread.
  [[nodiscard]] bool passed_by(Clock::time_point now) const noexcept {
    Clock::rep seen = time_.load(std::memory_order_acquire);
    while ((seen & passed) == 0) {
      if (now.time_since_epoch().count() < seen) return false;
      if (replace(seen, seen | passed)) return true;
    }
    return true;
  }

  /// Begins the time of a new hold, before any thread compares it.
  void set(Clock::time_point time) noexcept {
    time_.store(time.time_since_epoch().count() & ~passed, std::memory_order_release);
  }
  void clear() noexcept { time_.store(passed, std::memory_order_relaxed); }

  /// Moves it, never back. False: a thread has seen it pass, so it stays where it is.
  [[nodiscard]] bool move(Clock::time_point later) noexcept {
    const Clock::rep to = later.time_since_epoch().count() & ~passed;
    Clock::rep seen = time_.load(std::memory_order_acquire);
    while ((seen & passed) == 0) {
      if (to <= seen || replace(seen, to)) return true;
    }
    return false;
  }

 private:
  /// The lowest bit of `time_` says that it has passed. Times are rounded down to 2 ns.
  static constexpr Clock::rep passed = 1;

  bool replace(Clock::rep& seen, Clock::rep next) const noexcept {
    return time_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                       std::memory_order_acquire);
  }

  /// Mutable: a thread that only asks notes that it has passed.
  mutable std::atomic<Clock::rep> time_{passed};
};

}  // namespace latchkey::inline v1::detail
