// The events of one key, and which decisions they need.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/coordinator.hpp"

#include <utility>

#include "locks/coordinator/logic/acquire_logic.hpp"
#include "locks/coordinator/logic/lease_logic.hpp"
#include "locks/coordinator/logic/release_logic.hpp"
#include "locks/coordinator/logic/subscription_logic.hpp"
#include "locks/coordinator/logic/wait_logic.hpp"
#include "locks/coordinator/logic/yield_logic.hpp"

namespace latchkey::inline v1::detail {

// A request that never ran says nothing about the backend: no memory was left to send it, or it was
// one of a batch that found another call in front of it. That another key of a batch was busy says
// nothing about this one.
void KeyState::note_reply(const Request& request, const Outcome& outcome,
                          EventContext& context) noexcept {
  if (outcome.kind == Outcome::Kind::unknown) {
    silent_since = std::min(silent_since, request.sent);
    if (!outcome.reason.empty()) silence_reason = std::string_view(outcome.reason);
    busy_at = {};
  } else if (!outcome.never_ran) {
    end_silence();
    const bool busy = outcome.kind == Outcome::Kind::busy && outcome.busy_member == 0;
    if (busy) busy_at = context.now();
  }
}

void Coordinator::reset() noexcept {
  due_at = Clock::never();
  holds.reset_due();
  end_silence();
  unattended_due = Clock::never();
  busy_at = {};
  yielding = {};
  grants_unused_until = Clock::never();
  grants_refused_until = {};
  no_permits_until = {};
}

void Coordinator::acquire(Call& call, EventContext& context) {
  AcquireLogic(*this, context).acquire(call);
}

void Coordinator::cancel(Call& call, EventContext& context) {
  WaitLogic(*this, context).cancel(call);
}

void Coordinator::end_wait(Call& call, EventContext& context) {
  WaitLogic(*this, context).end_wait(call);
}

void Coordinator::leave(const Call& call, EventContext& context) {
  ReleaseLogic(*this, context).leave(call);
}

void Coordinator::unlock(Call& call, EventContext& context) {
  ReleaseLogic(*this, context).unlock(call);
  SubscriptionLogic(*this, context).end_revocations_if_unused();
}

void Coordinator::release(RemoteHold& hold, LockType type, bool watched,
                          Clock::time_point retain_until, Call* call, EventContext& context,
                          HoldLimits::Number limit) {
  ReleaseLogic(*this, context).release(hold, type, watched, retain_until, call, limit);
  SubscriptionLogic(*this, context).end_revocations_if_unused();
}

HoldLimits::Number Coordinator::limit(RemoteHold& hold, Clock::time_point until) noexcept {
  holds.due_by(until);
  return hold.limits.add(until);
}

void Coordinator::extend(RemoteHold& hold, std::chrono::milliseconds lease, Call& call,
                         EventContext& context) {
  LeaseLogic(*this, context).extend(hold, lease, call);
}

void Coordinator::listen_for_revocation(RemoteHold& hold, EventContext& context) {
  SubscriptionLogic(*this, context).listen_for_revocation(hold);
}

void Coordinator::report_member(Call& call, EventContext& context) {
  KeyEvent(*this, context).report_member(call);
}

void Coordinator::withdraw(RemoteHold& claim, EventContext& context) {
  ReleaseLogic(*this, context).abandon(claim);
}

void Coordinator::owner_ended(Owner owner, EventContext& context) {
  ReleaseLogic(*this, context).owner_ended(owner);
  SubscriptionLogic(*this, context).end_revocations_if_unused();
}

void Coordinator::completed(Request& request, Outcome& outcome, EventContext& context) {
  RemoteHold* const hold = static_cast<OwnedRequest&>(request).hold;
  switch (request.verb) {
    case Verb::acquire:
    case Verb::acquire_all:
      note_reply(request, outcome, context);
      return AcquireLogic(*this, context).on_acquire_reply(*hold, outcome);
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::expire: return LeaseLogic(*this, context).on_check_reply(*hold, outcome);
    case Verb::release:
    case Verb::leave:
      note_reply(request, outcome, context);
      return ReleaseLogic(*this, context).on_release_reply(*hold, outcome);
    case Verb::subscribe:
    case Verb::unsubscribe:
      return SubscriptionLogic(*this, context)
          .on_subscription_reply(static_cast<OwnedRequest&>(request), outcome);
    case Verb::inspect:
    case Verb::list:
    case Verb::force_release:
    case Verb::resize:
    case Verb::revoke:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: return;  // no coordinator sends these
  }
}

void Coordinator::notified(const Notification& notification, EventContext& context) {
  SubscriptionLogic(*this, context).on_notification(notification);
}

void Coordinator::tick(EventContext& context) {
  WaitLogic waiting(*this, context);
  LeaseLogic leases(*this, context);
  holds.reset_due();
  unattended_due = Clock::never();
  holds.for_each([&](RemoteHold& hold) {
    for (Call* call = hold.renewals.first(); call != nullptr;) {
      waiting.tick(*std::exchange(call, call->next));
    }
    leases.tick(hold);
  });
  waiters.for_each([&](Call& call) { waiting.tick(call); });
  YieldLogic(*this, context).tick();
  SubscriptionLogic(*this, context).tick();
  find_due();
}

void Coordinator::end_waits(EventContext& context) {
  WaitLogic waiting(*this, context);
  holds.for_each([&](RemoteHold& hold) {
    while (Call* const call = hold.renewals.first()) waiting.give_up(*call, Answer::closed);
  });
  while (Call* const call = waiters.any()) waiting.give_up(*call, Answer::closed);
}

void Coordinator::end_holds(EventContext& context) {
  ReleaseLogic releases(*this, context);
  holds.for_each([&](RemoteHold& hold) { releases.close(hold); });
  SubscriptionLogic(*this, context).end_revocations_if_unused();
}

void Coordinator::inherit() noexcept {
  holds.for_each([](RemoteHold& hold) {
    hold.inherited.store(true, std::memory_order_relaxed);
    hold.lost.store(true, std::memory_order_relaxed);
  });
}

void Coordinator::drop() noexcept { holds.clear(); }

}  // namespace latchkey::inline v1::detail
