// When a child whose lock is about to end gets SIGTERM, and when SIGKILL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::cli {

/// A state machine without a clock or a process: from the time and the lock's deadline it computes
/// the action that is due.
///
/// | phase       | ends when                                               | next        |
/// |-------------|---------------------------------------------------------|-------------|
/// | running     | the lock is lost, or only `grace` + the kill margin     | terminating |
/// |             | remain until its deadline                               |             |
/// | terminating | `grace` has passed, or only the kill margin remains     | killing     |
/// |             | until the deadline                                      |             |
/// | killing     | never                                                   |             |
///
/// A renewal that arrives in terminating changes nothing: the child has SIGTERM already.
class StopSchedule {
 public:
  enum class Phase : unsigned char { running, terminating, killing };

  /// SIGKILL is sent this long before the deadline, or a tenth of the lease if that is shorter:
  /// enough time for the kernel and for the last scan of /proc.
  static constexpr std::chrono::milliseconds longest_margin{200};

  /// `grace`: the child's time between SIGTERM and SIGKILL; at most a third of the lease, so that a
  /// short lease leaves time to work.
  StopSchedule(std::chrono::milliseconds grace, std::chrono::milliseconds lease) noexcept
      : grace_(std::min(grace, lease / 3)), margin_(std::min(longest_margin, lease / 10)) {}

  /// `deadline`: that of the lock as currently known; each renewal moves it. `lost`: the lock ended
  /// earlier.
  Phase advance(Clock::time_point now, Clock::time_point deadline, bool lost) noexcept {
    if (phase_ == Phase::running && (lost || now >= deadline - grace_ - margin_)) {
      phase_ = Phase::terminating;
      kill_at_ = std::min(now + grace_, deadline - margin_);
    }
    if (phase_ == Phase::terminating && now >= kill_at_) phase_ = Phase::killing;
    return phase_;
  }

  /// The child has ended but descendants of it run: they get the same grace.
  Phase end_remaining(Clock::time_point now, Clock::time_point deadline) noexcept {
    return advance(now, deadline, true);
  }

  /// When to call advance again.
  [[nodiscard]] Clock::time_point due(Clock::time_point deadline) const noexcept {
    return phase_ == Phase::running ? deadline - grace_ - margin_ : kill_at_;
  }

  [[nodiscard]] Phase phase() const noexcept { return phase_; }

 private:
  std::chrono::milliseconds grace_;
  std::chrono::milliseconds margin_;
  Phase phase_ = Phase::running;
  Clock::time_point kill_at_{};
};

}  // namespace latchkey::inline v1::cli
