// The clock of one simulated process: simulated time plus an origin and a drift.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::sim {

/// Follows `truth`, the time of the simulation. Nothing blocks in a simulation, so wait_until
/// returns at once.
class SimClock final : public Clock {
 public:
  /// `drift` is in millionths: 1000 gains one millisecond per second.
  explicit SimClock(const duration& truth, duration origin = {}, std::int64_t drift = 0) noexcept
      : truth_(truth), origin_(origin), drift_(drift) {}

  [[nodiscard]] time_point now() const noexcept override {
    return time_point(origin_ + truth_ + truth_ * drift_ / million);
  }

  void wait_until(std::unique_lock<std::mutex>&, std::condition_variable&, time_point) override {}

  /// How long this clock has run when it shows `local`.
  [[nodiscard]] duration elapsed(time_point local) const noexcept {
    return local.time_since_epoch() - origin_;
  }

  /// The earliest true time at which this clock shows `local` or later.
  [[nodiscard]] duration truth_at(time_point local) const noexcept {
    const duration since = local.time_since_epoch() - origin_;
    duration at = since * million / (million + drift_);
    while (at + at * drift_ / million < since) ++at;
    return at;
  }

 private:
  static constexpr std::int64_t million = 1'000'000;

  const duration& truth_;
  duration origin_;
  std::int64_t drift_;
};

}  // namespace latchkey::inline v1::sim
