// How long a waiting call sleeps, and when it ends.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

#include <latchkey/clock.hpp>

#include "locks/coordinator/call.hpp"
#include "locks/coordinator/coordinator_context.hpp"

namespace latchkey::inline v1::detail {

/// The end of the wait, later by Call::grace for an acquire that awaits the first answer. A wait
/// without a limit ends after `unavailable_after` without an answer.
[[nodiscard]] Clock::time_point end_of_wait(const Call& call,
                                            const CoordinatorSettings& settings) noexcept;

/// When the call's thread brings the next tick: at the end of the wait or for the next poll.
[[nodiscard]] Clock::time_point alarm_of(const Call& call,
                                         const CoordinatorSettings& settings) noexcept;

/// Pauses between two attempts. Each is twice the last one, between these bounds.
struct PauseRange {
  std::chrono::milliseconds least, most;

  [[nodiscard]] std::chrono::milliseconds next(std::chrono::milliseconds last) const noexcept;
};
/// A waiter that is notified of releases polls only because a notification may be lost.
inline constexpr PauseRange safety_poll{std::chrono::milliseconds(1'000),
                                        std::chrono::milliseconds(5'000)};
/// The polls of a waiter that is not notified of releases.
inline constexpr PauseRange plain_poll{std::chrono::milliseconds(10),
                                       std::chrono::milliseconds(500)};
/// The polls of a waiter whose last attempt had no answer.
inline constexpr PauseRange retry_poll{std::chrono::milliseconds(50),
                                       std::chrono::milliseconds(1'000)};

/// How long a WRITE that waits keeps new READs of all processes out with one attempt. It attempts
/// again at half of this time.
inline constexpr std::chrono::milliseconds writer_precedence{1'000};

/// `pause` plus or minus up to 20 %, so that the waiters of many processes do not poll in step.
[[nodiscard]] Clock::duration spread(std::chrono::milliseconds pause,
                                     CoordinatorContext& context) noexcept;

}  // namespace latchkey::inline v1::detail
