// Limits how much work per second a command gives to a server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>

namespace latchkey::inline v1::cli {

/// A budget that grows with time: `rate` units per second, at most one second's worth saved up.
/// Costs may overdraw it; the debt delays what comes next. Not thread-safe.
class Pacer {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Begins with the budget of `burst`.
  Pacer(std::uint64_t rate, std::chrono::milliseconds burst, TimePoint now);

  /// How much may be spent now; at least 0.
  [[nodiscard]] std::uint64_t available(TimePoint now);
  void spend(std::uint64_t units) { units_ -= static_cast<double>(units); }
  /// When something may be spent again.
  [[nodiscard]] TimePoint due() const;

 private:
  double rate_;
  double units_;
  TimePoint at_;
};

}  // namespace latchkey::inline v1::cli
