// The instants of a OncePer, and how long each must stay locked.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/cron.hpp>

namespace latchkey::inline v1::detail {

/// Decides without a clock: the simulator uses it with clocks of its own.
///
/// Why no instant is taken twice: let e be clock_error. A process that takes the instant i reads a
/// wall clock of i or later before it asks, and of less than i + period after it was granted. The
/// grant is therefore later than i - e and earlier than i + period + e, in true time, for each of
/// them: two grants are less than period + 2e apart. The mark of the first lasts that long.
struct OnceSchedule {
  using Wall = std::chrono::system_clock::time_point;

  /// The time between two instants. For a cron job: start_within, because a longer time would not
  /// matter.
  std::chrono::milliseconds period;
  std::chrono::milliseconds offset;
  std::chrono::milliseconds clock_error;
  std::chrono::milliseconds start_within;
  std::optional<Cron> cron{};  ///< instead of the multiples of the period

  /// The last instant that is not after `now`.
  [[nodiscard]] Wall instant_at(Wall now) const;
  [[nodiscard]] Wall after(Wall instant) const {
    return cron ? cron->next(instant) : instant + period;
  }

  /// Whether a run of `instant` may begin. Asked before the request, and after its grant.
  [[nodiscard]] bool is_in_time(Wall instant, Wall now) const;

  /// From then on it is too late to begin a run of `instant`.
  [[nodiscard]] Wall too_late_at(Wall instant) const;
  /// How long a run of `instant` that begins `now` may wait for another one: `wait`, or until it is
  /// too late.
  [[nodiscard]] std::chrono::milliseconds wait_at_most(std::chrono::milliseconds wait, Wall instant,
                                                       Wall now) const;

  /// How long the key of an instant stays locked from its grant on: at most, and that of `instant`.
  [[nodiscard]] std::chrono::milliseconds mark() const noexcept;
  [[nodiscard]] std::chrono::milliseconds mark(Wall instant) const;
};

/// The key of the lock of an instant: "latchkey_once:report:2026-11-25T12:15:00Z". Different keys
/// or instants give different ones; jobs with different periods share those instants that both
/// have.
[[nodiscard]] std::string once_key(std::string_view key, OnceSchedule::Wall instant);

/// "2026-11-25T12:15:00Z", with ".250" before the Z unless it is a whole second.
[[nodiscard]] std::string instant_text(OnceSchedule::Wall instant);

}  // namespace latchkey::inline v1::detail
