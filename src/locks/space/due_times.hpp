// When the timer thread has to look at which shards.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include <latchkey/clock.hpp>
#include <latchkey/parker.hpp>

namespace latchkey::inline v1::detail {

/// For each group of shards a time before which nothing in the group is due, and the sleep of the
/// timer thread until the earliest of these times. Thread-safe without a mutex.
///
/// A group's time may be earlier than what is due in the group, never later: an event that ends a
/// hold leaves the time as it is, and the timer thread finds nothing to do. So a lock that is
/// acquired and released writes nothing that other threads read.
class DueTimes {
 public:
  static constexpr std::size_t groups = 32;
  /// The group of the waits that belong to no shard; see note_waits.
  static constexpr std::size_t waits_group = groups;

  /// Something in `group` is due at `at`. Wakes the timer thread if it sleeps for longer. Called
  /// with the mutex of a shard of the group held, which the timer thread locks after `clear`:
  /// either this thread finds the time cleared, or the timer thread finds what is due in the shard.
  void note(std::size_t group, Clock::time_point at) noexcept {
    if (ticks(at) < next_due_[group].at.load(std::memory_order_relaxed)) lower_and_wake(group, at);
  }

  /// The waits that belong to no shard (LatchWaits) are due at `at`. No mutex orders this with
  /// `clear`. Both therefore read and write the time in one step: either this thread finds it
  /// cleared, and lowers it, or the timer thread finds what this one wrote before.
  void note_waits(Clock::time_point at) noexcept {
    if (ticks(at) < next_due_[waits_group].at.fetch_add(0)) lower_and_wake(waits_group, at);
  }

  // --- by the timer thread ---
  /// Returns once something was due for the first time, or wake() was called.
  void wait_for_work() const noexcept { has_work_.wait(0); }
  [[nodiscard]] bool is_due(std::size_t group, Clock::time_point now) const noexcept {
    return next_due_[group].at.load() <= ticks(now);
  }
  /// The caller then looks at everything that is due in `group`.
  void clear(std::size_t group) noexcept { next_due_[group].at.exchange(ticks(Clock::never())); }
  /// Does what note does, without a wake-up.
  void lower(std::size_t group, Clock::time_point at) noexcept;
  /// Until when the timer thread may sleep; Clock::time_point::min(): not at all, because a time
  /// was lowered just now.
  [[nodiscard]] Clock::time_point prepare_sleep() noexcept;
  /// The parker in which the timer thread sleeps.
  [[nodiscard]] Parker& parker() noexcept { return *parker_; }

  void wake() noexcept;

  /// Forgets all, in the child of a fork: nothing is due, and nobody sleeps.
  void forget_parent();

 private:
  static constexpr Clock::rep ticks(Clock::time_point at) { return at.time_since_epoch().count(); }

  void lower_and_wake(std::size_t group, Clock::time_point at) noexcept;
  [[nodiscard]] Clock::rep earliest() const noexcept;

  struct alignas(64) DueTime {
    std::atomic<Clock::rep> at{ticks(Clock::never())};
  };

  std::array<DueTime, groups + 1> next_due_;
  std::atomic<Clock::rep> sleeps_until_{ticks(Clock::never())};
  std::atomic<int> has_work_{0};
  std::unique_ptr<Parker> parker_ = std::make_unique<Parker>();
};

}  // namespace latchkey::inline v1::detail
