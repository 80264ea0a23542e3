// Pauses between attempts that fail.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail {

/// Exponential backoff with jitter. Pure; one thread at a time.
class Backoff {
 public:
  Backoff(std::chrono::milliseconds shortest, std::chrono::milliseconds longest, std::uint64_t seed)
      : shortest_(shortest), longest_(longest), next_(shortest), random_(seed) {}

  /// The pause after an attempt that did not fail.
  Clock::duration after_success() noexcept {
    next_ = shortest_;
    return shortest_;
  }

  /// The pause after a failure: between a half and the whole of a bound, which each failure doubles
  /// up to `longest`, so that processes that failed together do not return in step.
  Clock::duration after_failure() noexcept {
    next_ = next_ > longest_ / 2 ? longest_ : next_ * 2;
    const Clock::rep half = next_.count() / 2;
    return Clock::duration(half + std::uniform_int_distribution<Clock::rep>(0, half)(random_));
  }

 private:
  Clock::duration shortest_, longest_, next_;
  std::mt19937_64 random_;
};

}  // namespace latchkey::inline v1::detail
