// What the copies of a OncePer share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>

#include <latchkey/lease.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/once_per.hpp>

#include "once/once_schedule.hpp"

namespace latchkey::inline v1::detail {

/// Immutable.
struct OnceJob {
  Locks locks;
  std::string key;
  OnceSchedule schedule;
  OnFailure on_failure;
  std::chrono::milliseconds wait;
  /// The lease of a mark: its local deadline is not before schedule.mark().
  std::chrono::milliseconds mark_lease;

  [[nodiscard]] OnceSchedule::Wall now() const noexcept { return locks.clock().wall(); }
  /// The lease of a run.
  [[nodiscard]] Lease lease() const {
    return on_failure == OnFailure::skip_instant ? Lease(mark_lease) : Lease(watchdog);
  }
};

}  // namespace latchkey::inline v1::detail
