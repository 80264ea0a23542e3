// The coordinator's bookkeeping: events in, due times, what is told to listeners, and its record.
#include "locks/coordinator.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <latchkey/parker.hpp>

#include "core/thread_cache.hpp"
#include "locks/planted.hpp"

namespace latchkey::detail {

#ifdef LATCHKEY_PLANTED_BUGS
Bug planted_bug = Bug::none;
#endif

void Coordinator::completed(Request& request, Outcome& outcome, EventContext& context) {
  auto& owned = static_cast<OwnedRequest&>(request);
  switch (owned.verb) {
    case Verb::acquire:
    case Verb::acquire_all: return asked(*owned.hold, outcome, context);
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::expire: return checked(*owned.hold, outcome, context);
    case Verb::release:
    case Verb::leave: return ended(*owned.hold, outcome, context);
    case Verb::subscribe:
    case Verb::unsubscribe: return subscription_changed(owned.hold, outcome, context);
    case Verb::inspect:
    case Verb::list:
    case Verb::force_release: return;  // never a coordinator's
  }
}

void Coordinator::tick(EventContext& context) {
  due_ = Clock::never();
  for (RemoteHold* hold = remotes_.first(); hold != nullptr;) {
    RemoteHold& each = *std::exchange(hold, hold->next);
    for (Call* call = each.renewals.first(); call != nullptr;) {
      tick_call(*std::exchange(call, call->next), context);
    }
    tick_hold(each, context);
  }
  for (IntrusiveList<Call>* list : {&queue_, &fair_}) {
    for (Call* call = list->first(); call != nullptr;) {
      tick_call(*std::exchange(call, call->next), context);
    }
  }
  if (context.now() >= subscription_.retry_at) unsubscribe(subscription_, context);
  find_due();
}

void Coordinator::request_stop(RemoteHold& hold, EventContext& context) noexcept {
  hold.stop_owed = false;
  try {
    context.out.tell().stops.push_back(hold.stop);
  } catch (const std::bad_alloc&) {
    hold.stop_owed = true;
    hold.check_at = later(context.now(), std::chrono::milliseconds(100));
    due_by(hold.check_at);
  }
}

void Coordinator::end_waits(EventContext& context) {
  for (RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    while (hold->renewals.first() != nullptr) {
      give_up(*hold->renewals.first(), Answer::closed, context);
    }
  }
  for (IntrusiveList<Call>* list : {&queue_, &fair_}) {
    while (list->first() != nullptr) give_up(*list->first(), Answer::closed, context);
  }
}

void Coordinator::end_holds(EventContext& context) {
  for (RemoteHold* hold = remotes_.first(); hold != nullptr;) {
    RemoteHold& each = *std::exchange(hold, hold->next);
    if (each.stage == RemoteHold::Stage::linger) {
      answer_lingering(each, Answer::granted, context);
      each.gone = each.expires_by_itself;  // then the key stays locked for as long as was asked
      end(each, nullptr, context);
    } else if (each.stage == RemoteHold::Stage::held && !each.gone) {
      declare_lost(each, "its Locks were closed", context);
      submit_end(each, context);
    }
  }
}

void Coordinator::inherit() noexcept {
  for (RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    hold->inherited.store(true, std::memory_order_relaxed);
    hold->lost.store(true, std::memory_order_relaxed);
  }
}

void Coordinator::drop() noexcept {
  while (RemoteHold* const hold = remotes_.pop_front()) ThreadCache<RemoteHold>::give_back(*hold);
  held_.clear();
  in_the_way_[0] = in_the_way_[1] = 0;
}

Clock::time_point Coordinator::due_of(const RemoteHold& hold) noexcept {
  switch (hold.stage) {
    case RemoteHold::Stage::claim: break;
    case RemoteHold::Stage::held:
      if (hold.lost.load(std::memory_order_relaxed)) {
        return hold.stop_owed ? hold.check_at : Clock::never();
      }
      return hold.checking ? hold.deadline_point() : std::min(hold.deadline_point(), hold.check_at);
    case RemoteHold::Stage::linger: return std::min(hold.deadline_point(), hold.linger_until);
    case RemoteHold::Stage::ending:
      if (planted(Bug::renewal_outlives_release) && !hold.checking) {
        return std::min(hold.repeat_at, hold.check_at);
      }
      return hold.repeat_at;
  }
  return Clock::never();
}

void Coordinator::find_due() noexcept {
  due_ = subscription_.retry_at;
  for (const RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    due_by(std::min(due_of(*hold), hold->subscription.retry_at));
  }
}

bool Coordinator::unfinished() const noexcept {
  if (held()) return true;
  for (const RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    if (hold->stage == RemoteHold::Stage::ending && hold->under_way()) return true;
  }
  return false;
}

bool Coordinator::held() const noexcept {
  for (const RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    if (hold->stage == RemoteHold::Stage::held && hold->local_holds() > 0 && !hold->gone)
      return true;
  }
  return false;
}

void Coordinator::tell(Event::Kind kind, const RemoteHold& hold, EventContext& context,
                       std::string_view text) noexcept {
  try {
    Event event;
    event.kind = kind;
    event.type = hold.type;
    event.key = key;
    event.owner = hold.owner.number();
    event.origin = hold.origin;
    event.held = context.now() - hold.granted_at;
    event.lease = hold.lease;
    event.left = std::max(hold.deadline_point() - context.now(), Clock::duration{});
    if (kind == Event::Kind::renewed) event.late = context.now() - hold.check_due;
    if (hold.token != 0) event.fencing_token = hold.token;
    event.text = text;
    context.out.tell().events.push_back(std::move(event));
  } catch (const std::bad_alloc&) {
    ++context.out.unreported;
  }
}

void Coordinator::tell(Event::Kind kind, const Call& call, EventContext& context) noexcept {
  try {
    Event event;
    event.kind = kind;
    event.type = call.type;
    event.key = key;
    event.owner = call.owner.number();
    event.ticket = call.ticket;
    event.origin = call.origin;
    event.waited = context.now() - call.asked;
    if (call.waits && kind != Event::Kind::waiting) {
      event.contended = context.now() - call.waiting_since;
    }
    if (kind == Event::Kind::granted) {
      event.count = call.hold->local_holds();
      if (call.hold->token != 0) event.fencing_token = call.hold->token;
      event.lease = call.hold->lease;
      event.left = std::max(call.hold->deadline_point() - context.now(), Clock::duration{});
    } else if (kind == Event::Kind::waiting) {
      event.holder = holder_of(call, context);
    } else if (kind == Event::Kind::timeout) {
      event.holder = call.text;
    } else {
      event.text = call.text;
    }
    context.out.tell().events.push_back(std::move(event));
  } catch (const std::bad_alloc&) {
    ++context.out.unreported;
  }
}

// Its thread looks at the answer once it has the mutex.
void Coordinator::wake_now(Call& call) noexcept {
  call.waking = false;
  if (call.parker != nullptr) call.parker->unpark();
}

void Coordinator::reset() noexcept { due_at = due_ = subscription_.retry_at = Clock::never(); }

void RemoteHold::reset() noexcept {
  deadline.store(0, std::memory_order_relaxed);
  lost.store(false, std::memory_order_relaxed);
  token = 0;
  stop = std::stop_source(std::nostopstate);
  stage = Stage::claim;
  call = release_waiter = downgrade_waiter = nullptr;
  renewals.clear();
  locks[0] = locks[1] = holds[0] = holds[1] = watchdogs = pins = 0;
  wanted = poll = std::chrono::milliseconds(0);
  granted_at = expires_at = check_sent = Clock::time_point{};
  check_at = poll_at = repeat_at = linger_until = Clock::never();
  stop_owed = asking = checking = releasing = retry_requested = unsettled = refused = reached =
      false;
  expires_by_itself = false;
  released = release_again = downgrading = write_or_read = gone = unconfirmed = false;
  subscription.stage = Subscription::Stage::off;
  subscription.retry_at = Clock::never();
  if (!note.empty()) announce({});
}

}  // namespace latchkey::detail
