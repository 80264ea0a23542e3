// The effects of events on metrics, whichever library keeps them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/listener.hpp>

#include "locks/event_kinds.hpp"

namespace latchkey::inline v1::detail::metrics {

inline double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// A lease that was taken over from another holder is partly used when the hold begins: that part
/// is not the body's. A renewed lease has begun later than the hold.
inline double used_part_of_lease(const Event& released) {
  const double held = seconds(released.held), left = seconds(released.left);
  return std::min(1 - left / seconds(released.lease), held + left > 0 ? held / (held + left) : 1.0);
}

/// One event, as the totals of dropped events are told.
inline Event::Missed totals_of(const Event& event) {
  return {event.kind,
          event.origin,
          1,
          event.count == 1 ? 1U : 0U,
          event.contended.has_value() ? 1U : 0U,
          event.cached ? 1U : 0U,
          event.permits};
}

/// Updates counters and gauges of locks, for events that were dropped, too. `at` belongs to the
/// place of the events, and has a function for each metric.
template <class Place>
void add(Place& at, const Event::Missed& what) {
  using Kind = Event::Kind;
  const bool goes_on = what.kind == Kind::renewed || what.kind == Kind::revoked;
  const auto permits = static_cast<double>(what.permits);
  if (what.permits > 0 && !goes_on) at.permits(what.kind == Kind::granted ? permits : -permits);
  const auto number = static_cast<double>(what.count);
  switch (what.kind) {
    case Kind::waiting: return at.waiters(number);
    case Kind::revoked: return at.revoked(number);
    case Kind::recalled: return at.recalled(number);
    case Kind::lost: at.lost(number); return at.holds(-number);
    case Kind::released: return at.holds(-number);
    case Kind::release_unconfirmed: at.unconfirmed(number); return at.holds(-number);
    default: break;
  }
  if (traits_of(what.kind).category != EventCategory::outcome) return;
  at.attempts(what.kind, number);
  at.waiters(-static_cast<double>(what.contended));
  if (what.kind != Kind::granted) return;
  at.holds(static_cast<double>(what.new_holds));
  if (what.cached > 0) at.cached(static_cast<double>(what.cached));
}

/// Updates histograms of locks.
template <class Place>
void measure(Place& at, const Event& event) {
  using Kind = Event::Kind;
  switch (event.kind) {
    case Kind::granted:
      at.acquire(seconds(event.waited));
      if (event.contended) at.wait(seconds(*event.contended));
      return;
    case Kind::renewed: return at.lag(seconds(event.late));
    case Kind::released:
      at.hold(seconds(event.held));
      if (event.lease.count() > 0) at.used(used_part_of_lease(event));
      return;
    case Kind::lost:
      at.hold(seconds(event.held));
      if (event.held_too_long) at.held_too_long();
      return at.used(1);
    default: return;
  }
}

/// "ran" of "once_ran".
inline std::string_view last_word(const EventTraits& traits) {
  return traits.name.substr(traits.name.find('_') + 1);
}

inline bool is_of_job(Event::Kind kind) {
  return kind >= Event::Kind::once_ran && kind <= Event::Kind::latch_failed;
}

/// The terms of Leaders that have not ended.
class OpenTerms {
 public:
  /// elected, deposed or term_ended.
  void note(const Event& event) {
    const std::pair term(event.key, event.fencing_token.value_or(0));
    event.kind == Event::Kind::elected ? void(terms_.insert(term)) : void(terms_.erase(term));
  }
  [[nodiscard]] std::size_t size() const noexcept { return terms_.size(); }

 private:
  std::set<std::pair<std::string, std::uint64_t>> terms_;
};

}  // namespace latchkey::inline v1::detail::metrics
