// The job that the copies of a OncePer share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>

#include <latchkey/lease.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/once_per.hpp>

#include "once/once_schedule.hpp"

namespace latchkey::inline v1::detail {

/// A lease, a multiple of `step`, whose local deadline is not before `length`: the margin is the
/// larger of 5 ms and 1 %.
[[nodiscard]] inline std::chrono::milliseconds lease_of_mark(std::chrono::milliseconds length,
                                                             std::chrono::milliseconds step) {
  const std::chrono::milliseconds least = length + length / 50 + std::chrono::milliseconds(50);
  return (least + step - std::chrono::milliseconds(1)) / step * step;
}

/// Both check the options, and throw std::invalid_argument with a sentence for what makes no sense.
[[nodiscard]] OnceSchedule checked_schedule(std::chrono::milliseconds period,
                                            const OncePerOptions& options);
[[nodiscard]] OnceSchedule checked_schedule(const Cron& cron, const OncePerOptions& options);

/// Immutable.
struct OnceJob {
  Locks locks;
  std::string key;
  OnceSchedule schedule;
  OnFailure on_failure;
  std::chrono::milliseconds wait;
  std::chrono::milliseconds lease_granularity;  ///< Capabilities::lease_granularity

  [[nodiscard]] OnceSchedule::Wall now() const noexcept { return locks.clock().wall(); }
  /// The lease of the mark of an instant: its local deadline is not before schedule.mark().
  [[nodiscard]] std::chrono::milliseconds mark_lease(OnceSchedule::Wall instant) const {
    return lease_of_mark(schedule.mark(instant), lease_granularity);
  }
};

}  // namespace latchkey::inline v1::detail
