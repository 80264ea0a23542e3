// How long a waiting call sleeps, and when it ends.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/wait_times.hpp"

#include <algorithm>
#include <cstdint>

#include "locks/coordinator/remote_hold.hpp"

namespace latchkey::inline v1::detail {

Clock::time_point end_of_wait(const Call& call, const CoordinatorSettings& settings) noexcept {
  using LastReply = Call::LastReply;
  const RemoteHold* const claim = claim_of(call);
  const bool renewing = call.hold != nullptr && claim == nullptr;
  const bool asking = renewing || (claim != nullptr && claim->acquire.in_flight());
  if (call.bundled && asking) return Clock::never();  // the batch ends it
  if (call.forever) {
    const bool silent = asking || call.last_reply == LastReply::unknown;
    return silent ? later(call.silent_since, settings.unavailable_after) : Clock::never();
  }
  if (!asking || call.last_reply != LastReply::none) return call.until;
  return std::max(call.until, later(std::min(call.silent_since, call.until), call.grace));
}

Clock::time_point alarm_of(const Call& call, const CoordinatorSettings& settings) noexcept {
  const RemoteHold* const claim = claim_of(call);
  const Clock::time_point end = end_of_wait(call, settings);
  const bool polls = claim != nullptr && !claim->acquire.in_flight();
  return polls ? std::min(end, claim->acquire.poll_at) : end;
}

std::chrono::milliseconds PauseRange::next(std::chrono::milliseconds last) const noexcept {
  return std::clamp(2 * last, least, most);
}

Clock::duration spread(std::chrono::milliseconds pause, CoordinatorContext& context) noexcept {
  const auto percent = static_cast<std::int64_t>(80 + context.chance(41));
  return Clock::duration(pause) * percent / 100;
}

}  // namespace latchkey::inline v1::detail
