// How long a thread sleeps before it looks at the clock again.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail {

/// How long a thread that waits for `until` may sleep before it looks at the clock again. The
/// kernel's timeouts do not follow latchkey's clocks: they differ while the machine is suspended,
/// and a test moves its clock by hand.
[[nodiscard]] inline Clock::duration sleep_slice(const Clock& clock,
                                                 Clock::time_point until) noexcept {
  using namespace std::chrono_literals;
  const bool is_system_clock = &clock == &Clock::system();
  // poll(2) and futexes do not count the time for which the machine was suspended.
  const Clock::duration longest = is_system_clock ? Clock::duration(1s) : Clock::duration(10ms);
  const Clock::time_point now = clock.now();
  return until <= now ? Clock::duration::zero() : std::min(until - now, longest);
}

}  // namespace latchkey::inline v1::detail
