// The plan that `latchkey once` adds to `latchkey run`: the instant that the command is for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>

#include <latchkey/once_per.hpp>
#include <latchkey/wait.hpp>

#include "once/once_schedule.hpp"

namespace latchkey::inline v1::cli {

/// As OncePer: the lock of the instant stays locked after a run that counts, until no process can
/// begin the instant any more.
struct OncePlan {
  detail::OnceSchedule schedule;
  OnFailure on_failure = OnFailure::retry;
  detail::OnceSchedule::Wall instant{};
  std::chrono::milliseconds mark{};  ///< for how long the instant stays locked

  [[nodiscard]] std::string text() const { return detail::instant_text(instant); }
  [[nodiscard]] bool is_in_time() const {
    return schedule.is_in_time(instant, std::chrono::system_clock::now());
  }
  /// `wait`, or until it is too late to begin the command.
  [[nodiscard]] Wait limit(Wait wait) const {
    return schedule.wait_at_most(wait.length(), instant, std::chrono::system_clock::now());
  }
  /// A command with this exit status has run its instant.
  [[nodiscard]] bool counts(int status) const noexcept {
    return status == 0 || on_failure == OnFailure::skip_instant;
  }
};

}  // namespace latchkey::inline v1::cli
