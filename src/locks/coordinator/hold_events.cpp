// Texts and events that describe a call or a hold.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/hold_events.hpp"

#include <algorithm>
#include <chrono>

#include <latchkey/site.hpp>

#include "core/owner_threads.hpp"
#include "core/text/utc_text.hpp"
#include "locks/event_kinds.hpp"

namespace latchkey::inline v1::detail {

std::string announcement_of(const RemoteHold& claim, const CoordinatorSettings& settings) {
  const bool idle = claim.stage == RemoteHold::Stage::idle;
  std::string text = idle                           ? "the cache"
                     : claim.origin.site != nullptr ? claim.origin.site->where()
                                                    : "a program";
  text += ' ';
  text += settings.announcement;
  if (settings.announced_time != nullptr) {
    const auto now = settings.announced_time->wall();
    text += ", since " + utc_text(std::chrono::floor<std::chrono::seconds>(now));
  }
  return text;
}

std::optional<Event::Kind> event_of(const Call& call) noexcept {
  switch (call.answer) {
    case Answer::granted: return Event::Kind::granted;
    case Answer::busy: return kind_of_busy(call.origin.key_template, call.makes_one_attempt());
    case Answer::would_deadlock: return Event::Kind::would_deadlock;
    case Answer::cancelled: return Event::Kind::cancelled;
    case Answer::closed: return Event::Kind::closed;
    case Answer::unavailable: return Event::Kind::unavailable;
    case Answer::refused: return Event::Kind::refused;
    case Answer::pending:
    case Answer::lost:
    case Answer::too_long:
    case Answer::not_owner: break;
  }
  return std::nullopt;
}

std::string describe_holder(const RemoteHold& hold, Clock::time_point now) {
  std::string text;
  if (hold.origin.site != nullptr) text = hold.origin.site->where() + ", ";
  text += "owner " + std::to_string(hold.owner.number()) + " of this process";
  if (const auto thread = thread_of(hold.owner)) {
    text += " (thread " + std::to_string(*thread) + ")";
  }
  const auto held = std::chrono::floor<std::chrono::milliseconds>(now - hold.granted_at);
  return text + ", for " + std::to_string(held.count()) + " ms";
}

void describe_hold(Event& event, const RemoteHold& hold, Clock::time_point now) {
  if (hold.token != 0 && hold.fenced && !is_shared(hold.type)) event.fencing_token = hold.token;
  if (hold.type == LockType::PERMIT) event.permits = hold.permits();
  event.lease = hold.in_force;
  event.left = std::max(hold.deadline_point() - now, Clock::duration{});
}

void describe_call(Event& event, const Call& call, Clock::time_point now) {
  event.ticket = call.ticket;
  const MemberReport* const member = call.member;
  event.waited = now - (member != nullptr ? member->asked : call.asked);
  if (event.kind == Event::Kind::waiting) return;
  if (member != nullptr ? member->waits : call.waits) {
    event.contended = now - (member != nullptr ? member->waiting_since : call.waiting_since);
  }
  if (event.kind == Event::Kind::granted) {
    event.count = call.hold->local_holds();
    event.cached = call.cached;
    describe_hold(event, *call.hold, now);
  } else if (call.answer == Answer::busy) {
    event.holder = call.holder;
  } else {
    event.text = event.kind == Event::Kind::would_deadlock ? call.holder : call.reason;
  }
}

}  // namespace latchkey::inline v1::detail
