// A key that one owner takes and gives back again and again, at a backend in the same process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>

#include <latchkey/clock.hpp>

#include "core/thread_cache.hpp"
#include "locks/coordinator/immediate.hpp"
#include "locks/probes.hpp"

namespace latchkey::inline v1::detail {

/// Acquires a hold once more instead of a new one. Only an event changes a hold: if none has come
/// since its grant, the hold that was released is the one that the next acquire with the same terms
/// would make, but for its number and its times. Functions of a Coordinator.
///
/// | state     | meaning                                                | next states             |
/// |-----------|--------------------------------------------------------|-------------------------|
/// | none      | holds, if any, are as Coordinator says                 | plain                   |
/// | plain     | the only hold was granted at once, and is unchanged    | set aside, none (event) |
/// | set aside | the key is idle; its last hold is kept as it was       | plain, none (event)     |
class RepeatedHold {
 public:
  /// `hold` was granted at once by these terms.
  static void begin(Coordinator& home, RemoteHold& hold, const AcquireTerms& terms) noexcept {
    const CoordinatorSettings& settings = home.settings();
    // An announcement has the time of its hold; common and watched checks have times of their own.
    const bool is_usual =
        settings.announcement.empty() && !settings.common_checks && !settings.watches;
    if (terms.is_plain() && is_usual) home.holds_.set_plain(hold);
  }
  /// After each event.
  static void end(Coordinator& home) noexcept { home.holds_.end_plain(); }

  /// Whether the last hold is set aside: the key is idle.
  [[nodiscard]] static bool is_set_aside(const Coordinator& home) noexcept {
    return home.holds_.spare() != nullptr && home.grants_.ended();
  }
  /// Acquires the hold that is set aside. Null: it is not granted, or has other terms; the state is
  /// `none` then.
  [[nodiscard]] static RemoteHold* acquire(Coordinator& home, const AcquireTerms& terms,
                                           ImmediateBackend& backend,
                                           Clock::time_point now) noexcept;
  /// Releases the plain hold. False: nothing is done.
  [[nodiscard]] static bool release(Coordinator& home, RemoteHold& hold, ImmediateBackend& backend,
                                    Clock::time_point now) noexcept;
};

[[gnu::always_inline]] inline RemoteHold* RepeatedHold::acquire(Coordinator& home,
                                                                const AcquireTerms& terms,
                                                                ImmediateBackend& backend,
                                                                Clock::time_point now) noexcept {
  RemoteHold& hold = *home.holds_.take_spare();
  OwnedRequest& request = hold.acquire.request;
  const Clock::duration passed = now - request.sent;
  // All other parts of the ids and of the requests stay as they are.
  hold.id.number = request.id.number = home.shard_->fresh_number();
  request.sent = now;
  if (!hold.has_terms(terms) || !backend.grant_uncontended(request)) [[unlikely]] {
    ThreadCache<RemoteHold>::give_back(hold);
    return nullptr;
  }
  hold.release.request.id.number = hold.id.number;
  hold.granted_at = now;
  hold.expires_at += passed;
  hold.check.due_at += passed;
  const Clock::time_point deadline = end_of_lease(now, hold.lease);
  hold.deadline.set(deadline);
  home.holds_.add_claim(hold);
  home.holds_.set_held(hold);
  home.holds_.due_by(std::min(deadline, hold.check.due_at));
  if (!terms.by_lock) ++home.shard_->hold_objects;
  home.holds_.set_plain(hold);
  home.fire_grant_probes(terms);
  return &hold;
}

[[gnu::always_inline]] inline bool RepeatedHold::release(Coordinator& home, RemoteHold& hold,
                                                         ImmediateBackend& backend,
                                                         Clock::time_point now) noexcept {
  // A hold_for is no event.
  const bool is_plain =
      home.holds_.plain() == &hold && hold.retention.asked_until == Clock::time_point{};
  if (!is_plain || hold.is_lost(now)) return false;
  OwnedRequest& request = hold.release.request;
  if (request.id.number == hold.id.number) [[likely]] {
    request.sent = now;
  } else {
    home.prepare(request, Verb::release, hold, now);
  }
  if (!backend.grant_uncontended(request)) return false;
  probes::released(home.key.view(), hold);
  // Neither are a stop_token and a pin.
  if (!hold.stop.stop_possible() && hold.pins == 0) [[likely]] {
    home.holds_.set_aside(hold);
  } else {
    home.holds_.erase_held(hold);
  }
  return true;
}

}  // namespace latchkey::inline v1::detail
