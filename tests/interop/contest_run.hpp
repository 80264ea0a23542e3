// A contest between processes, measured once all contenders are warm.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include "interop/contest.hpp"
#include "support/recorder.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {

/// The grants and waits of some contenders while the contest was measured.
struct Share {
  std::uint64_t grants = 0;
  std::chrono::nanoseconds longest_wait{};
};

class ContestRun {
 public:
  /// The contenders with the numbers from 0 on.
  explicit ContestRun(std::size_t contenders) noexcept : contenders_(contenders) {}

  /// Returns when the contest is over: measures for `window` and for as long as the machine stalls
  /// meanwhile, once each contender has had `warm` grants.
  void measure(std::chrono::milliseconds window, std::uint64_t warm) {
    EXPECT_TRUE(eventually([&] { return least_warm() >= warm; })) << least_warm();
    const Stalls stalls;
    contest_->phase = Contest::measured;
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun - stalls.total() < window) {
      // sleeps: turns are counted in a time without the stalls, which end at no event
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    contest_->phase = Contest::over;
    stalled_ = stalls.total();
  }

  /// How many grants there were, in all phases.
  [[nodiscard]] std::uint64_t grants() const {
    std::uint64_t sum = 0;
    for (const auto& contender : contenders()) sum += contender.warm_grants + contender.grants;
    return sum;
  }

  /// The share of `count` contenders from the number `first` on.
  [[nodiscard]] Share share_of(std::size_t first, std::size_t count) const {
    Share share;
    for (const auto& contender : contenders().subspan(first, count)) {
      share.grants += contender.grants;
      share.longest_wait =
          std::max(share.longest_wait, std::chrono::nanoseconds(contender.longest_wait_ns.load()));
    }
    return share;
  }

  [[nodiscard]] const Contest& contest() const noexcept { return contest_; }
  [[nodiscard]] std::chrono::nanoseconds stalled() const noexcept { return stalled_; }

 private:
  [[nodiscard]] std::span<const Contest::Contender> contenders() const {
    return std::span(contest_->contenders).first(contenders_);
  }

  [[nodiscard]] std::uint64_t least_warm() const {
    const auto all = contenders();
    return std::min_element(all.begin(), all.end(),
                            [](const auto& one, const auto& other) {
                              return one.warm_grants < other.warm_grants;
                            })
        ->warm_grants;
  }

  const std::size_t contenders_;
  Contest contest_;
  std::chrono::nanoseconds stalled_{};
};

}  // namespace latchkey::tests
