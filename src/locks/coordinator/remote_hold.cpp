// One hold at the backend, and the local holds that share it.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/remote_hold.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace latchkey::inline v1::detail {

Clock::time_point end_of_lease(Clock::time_point sent, std::chrono::milliseconds lease) noexcept {
  constexpr Clock::duration least = std::chrono::milliseconds(5);
  return later(sent, lease) - std::max(Clock::duration(lease) / 100, least);
}

// The inverse of end_of_lease, rounded up.
std::chrono::milliseconds lease_until(Clock::time_point end, Clock::time_point sent) noexcept {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(end - sent);
  return left + std::max(milliseconds(5), milliseconds((left.count() + 98) / 99));
}

Clock::time_point common_check_time(Clock::time_point at, Clock::duration interval,
                                    Clock::duration phase) noexcept {
  if (at == Clock::never()) return at;
  const auto most = static_cast<std::uint64_t>(std::max<Clock::rep>(interval.count() / 8, 1));
  const auto mask = static_cast<Clock::rep>(std::bit_floor(most) - 1);
  return at - Clock::duration((at.time_since_epoch() - phase).count() & mask);
}

Clock::time_point RemoteHold::due() const noexcept {
  switch (stage) {
    case Stage::claim: return subscription.retry_at;
    case Stage::held:
      if (is_marked_lost()) {
        return std::min(stop_pending ? check.due_at : Clock::never(), subscription.retry_at);
      }
      return std::min({deadline_point(), check.in_flight() ? Clock::never() : check.due_at,
                       limits.earliest(), subscription.retry_at});
    case Stage::idle:
      return std::min({deadline_point(), idle_until, check.due_at, subscription.retry_at});
    case Stage::retained: return std::min(retention.until, subscription.retry_at);
    case Stage::releasing: return std::min(release.repeat_at, subscription.retry_at);
  }
  return Clock::never();
}

void RemoteHold::drop_watchdogs(std::uint32_t count) noexcept {
  watchdogs -= count;
  const bool renewed_for_it = joined != nullptr && !held_too_long && !is_marked_lost();
  if (renewed_for_it) joined->watchdogs -= count;
}

void RemoteHold::note_held_too_long() noexcept {
  if (std::exchange(held_too_long, true)) return;
  if (joined != nullptr) joined->watchdogs -= watchdogs;
}

bool RemoteHold::move_deadline(Clock::time_point sent_at,
                               std::chrono::milliseconds granted) noexcept {
  const Clock::time_point end = end_of_lease(sent_at, granted);
  if (end > deadline_point()) lease = in_force = granted;
  return deadline.move(std::min(end, limits.earliest()));
}

void AcquireProgress::note(const Outcome& reply) noexcept {
  if (reply.never_ran) return;
  const bool unknown = reply.kind == Outcome::Kind::unknown;
  const bool refused = reply.kind == Outcome::Kind::refused;
  note(unknown ? Trace::unanswered : refused ? Trace::refused : Trace::ran);
}

void PlaceInLine::note(const Outcome& busy, Clock::time_point sent,
                       Clock::time_point now) noexcept {
  behind_foreign = busy.holder_is_foreign;
  if (busy.place != 0) sent_at = sent;
  number = busy.place;
  if (!busy.near_front) {
    near_front_since = Clock::never();
  } else if (near_front_since == Clock::never()) {
    near_front_since = now;
  }
}

std::chrono::milliseconds ReleaseProgress::next_pause(bool grows) noexcept {
  using std::chrono::milliseconds;
  const milliseconds longest = grows ? longest_repeat_pause : repeat_pause;
  last_pause = std::clamp<milliseconds>(2 * last_pause, repeat_pause, longest);
  return last_pause;
}

void RemoteHold::announce(std::string text) noexcept {
  note = std::move(text);
  acquire.request.note = check.request.note = release.request.note = note;
}

}  // namespace latchkey::inline v1::detail
