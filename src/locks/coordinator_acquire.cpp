// The coordinator's decisions about acquiring: re-entry, the local queue, attempts.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include <latchkey/site.hpp>

#include "core/thread_cache.hpp"
#include "locks/coordinator.hpp"
#include "locks/planted.hpp"

namespace latchkey::detail {
namespace {

using std::chrono::milliseconds;

// Redisson's default for a fair waiter's place is 5 minutes; ours is asked for again at least every
// 5 s, so three missed polls end it.
constexpr milliseconds queue_wait{15'000};

}  // namespace

void Coordinator::acquire(Call& call, EventContext& context) {
  call.acquires = true;
  if (reports(Event::Kind::attempt)) tell(Event::Kind::attempt, call, context);
  if (context_->closed) return answer(call, Answer::closed, context);
  if (!remotes_.empty()) context.read_again();  // deadlines will be looked at
  if (RemoteHold* const hold = live_hold_of(call.owner, context))
    return reenter(call, *hold, context);
  enqueue(call, context);
}

void Coordinator::reenter(Call& call, RemoteHold& hold, EventContext& context) {
  const LockType held_as = hold.downgrading ? LockType::READ : hold.type;
  const bool same = call.type == held_as;
  const bool read_in_write = call.type == LockType::READ && held_as == LockType::WRITE;
  if ((!same && !read_in_write) || call.reentry == Reentry::refuse) {
    return answer_deadlock(call, held_as, hold, context);
  }
  call.want = call.lease.length(context_->settings->watchdog);
  const Clock::duration left = hold.deadline_point() - context.now();
  if (hold.watchdogs > 0 || call.bundled || left * 3 >= Clock::duration(call.want) * 2) {
    call.hold = &hold;
    count(call, hold);
    return answer(call, Answer::granted, context);
  }
  wait_for_renewal(call, hold, context);
}

void Coordinator::enqueue(Call& call, EventContext& context) {
  call.hold = nullptr;
  call.ticket = context_->ticket();
  call.list = call.type == LockType::FAIR ? &fair_ : &queue_;
  call.list->push_back(call);
  waiting_.insert(call);
  if (call.list == &queue_ && unasked_ == nullptr) unasked_ = &call;
  if (call.type == LockType::FAIR) {
    start_attempt(call, context);
  } else {
    dispatch_waiters(context);
  }
  // One attempt, and somebody else of this process is in front: the answer is known.
  const bool one_attempt = !call.forever && call.until <= call.asked;
  if (one_attempt && call.hold == nullptr && call.answer == Answer::pending) {
    return give_up_waiting(call, context);
  }
  if (call.hold == nullptr && call.answer == Answer::pending) report_waiting(call, context);
  set_alarm(call, context);
}

// A crowd of READs is looked at once: each has the same holds of this process in its way.
void Coordinator::dispatch_front(EventContext& context) {
  const bool reads = queue_.first()->type == LockType::READ;
  if (unasked_ != queue_.first() && !(reads && unasked_->type == LockType::READ)) return;
  if (local_blocker(unasked_->type, context) != nullptr) return;
  do {
    start_attempt(*unasked_, context);
  } while (reads && unasked_ != nullptr && unasked_->type == LockType::READ);
}

void Coordinator::start_attempt(Call& call, EventContext& context) {
  if (call.hold != nullptr) return;
  try {
    make_claim(call, context);
  } catch (const std::bad_alloc&) {
    call.text = "out of memory";
    return give_up(call, Answer::unavailable, context);
  }
  ask(*call.hold, context);
}

// What may throw comes first.
void Coordinator::make_claim(Call& call, EventContext& context) {
  if (!can_submit(context)) throw std::bad_alloc();
  RemoteHold& claim = ThreadCache<RemoteHold>::take();
  if (&call == unasked_) unasked_ = call.next;
  claim.home = this;
  claim.space = context_->space;
  claim.id = context_->fresh_id();
  if (planted(Bug::id_used_again)) claim.id.number = 1;
  claim.type = call.type;
  claim.owner = call.owner;
  claim.origin = call.origin;
  claim.lease = call.lease.length(context_->settings->watchdog);
  claim.call = &call;
  try {
    if (!context_->settings->announcement.empty()) announce(claim);
  } catch (const std::bad_alloc&) {
    claim.note.clear();  // then only its id is known
    claim.ask.note = claim.check.note = claim.end.note = {};
  }
  call.hold = &claim;
  remotes_.push_back(claim);
}

// What others may read of the holder: "Bank::deposit (bank.cpp:12) on web-3, process 7".
void Coordinator::announce(RemoteHold& claim) {
  std::string text;
  if (claim.origin.site != nullptr) text = claim.origin.site->where() + ' ';
  claim.announce(std::move(text) + context_->settings->announcement);
}

void Coordinator::ask(RemoteHold& claim, EventContext& context) {
  Call& call = *claim.call;
  if (!call.bundled && !can_submit(context)) {
    claim.poll_at = later(context.now(), repeat_pause);
    return set_alarm(call, context);
  }
  const bool one_attempt = !call.forever && call.until <= call.asked;
  prepare(claim.ask, Verb::acquire, claim, context);
  claim.ask.lease = claim.lease;
  claim.ask.queue_wait = one_attempt ? milliseconds(0) : queue_wait;
  claim.sent = claim.ask.sent;
  // A place in a FAIR queue may outlive the lease that was asked for.
  const bool queues = claim.type == LockType::FAIR;
  const milliseconds there = queues ? std::max(claim.lease, claim.ask.queue_wait) : claim.lease;
  claim.expires_at = std::max(claim.expires_at, later(claim.sent, there));
  claim.poll_at = Clock::never();
  claim.asking = true;
  claim.retry_requested = false;
  if (!call.outcome_unknown) call.silent_since = claim.sent;
  if (!call.bundled) submit(claim.ask, context);
  set_alarm(call, context);
}

void Coordinator::asked(RemoteHold& claim, Outcome& outcome, EventContext& context) {
  claim.asking = false;
  const bool ran = !outcome.never_ran;
  if (outcome.kind == Outcome::Kind::unknown && ran) claim.unsettled = true;
  const bool refused = outcome.kind == Outcome::Kind::refused;
  if (refused && ran) claim.refused = true;
  claim.reached = claim.reached || ran;
  Call* const call = claim.call;
  if (call == nullptr) {
    // Given up meanwhile; its release is behind it, unless it overtook: then what the attempt left
    // there, a hold or a FAIR place, is given back once more.
    const bool queued = outcome.kind == Outcome::Kind::busy && claim.type == LockType::FAIR;
    const bool there = outcome.kind == Outcome::Kind::granted || queued || refused;
    const bool copies = claim.unsettled && !context_->settings->in_order;
    if (claim.releasing) claim.release_again = there && !context_->settings->in_order;
    if (claim.released && (there || copies)) return submit_end(claim, context);
    return drop_if_done(claim, context);
  }
  switch (outcome.kind) {
    case Outcome::Kind::granted: return establish(claim, outcome, context);
    case Outcome::Kind::busy:
      call->text = std::move(outcome.text);
      return wait_for_release(claim, outcome, context);
    case Outcome::Kind::gone:
    case Outcome::Kind::unknown:
      call->text = std::move(outcome.text);
      return wait_for_answer(claim, context);
    case Outcome::Kind::refused:
      call->text = std::move(outcome.text);
      return give_up(*call, Answer::refused, context);
  }
}

void Coordinator::establish(RemoteHold& claim, Outcome& outcome, EventContext& context) {
  Call& call = *claim.call;
  const Clock::duration kept_back =
      planted(Bug::no_margin) ? Clock::duration{} : margin(claim.lease);
  const Clock::time_point from = planted(Bug::deadline_from_the_reply) ? context.now() : claim.sent;
  const Clock::time_point deadline = later(from, claim.lease) - kept_back;
  if (deadline <= context.now()) {
    // Too late to be of use. The next attempt has an id of its own.
    call.hold = nullptr;
    claim.call = nullptr;
    call.outcome_unknown = true;
    call.text = "the grant arrived after its lease had ended";
    end(claim, nullptr, context);
    if (context.now() >= end_of(call)) return give_up(call, Answer::unavailable, context);
    return start_attempt(call, context);
  }
  claim.stage = RemoteHold::Stage::held;
  held_.insert(claim);
  past_claim(claim);
  claim.call = nullptr;
  claim.token = outcome.token;
  claim.granted_at = context.now();
  claim.poll_at = Clock::never();
  claim.deadline.store(deadline.time_since_epoch().count(), std::memory_order_release);
  leave_queue(call);
  count(call, claim);
  claim.check_at = later(claim.sent, renewal_interval(claim));
  due_by(due_of(claim));
  answer(call, Answer::granted, context);
  join_same_owner(claim, context);
  if (claim.subscription.stage == Subscription::Stage::on) unsubscribe(claim.subscription, context);
  dispatch_waiters(context);
  leave_channel_if_unused(context);
}

// Another call of the owner that holds now (two threads that share an Owner) re-enters.
void Coordinator::join_same_owner(RemoteHold& hold, EventContext& context) {
  while (Call* const waiting = waiting_.first(hold.owner)) {
    leave_queue(*waiting);
    RemoteHold* const claim = std::exchange(waiting->hold, nullptr);
    if (claim != nullptr) abandon(*claim, context);
    reenter(*waiting, hold, context);
  }
}

// For Bug::anyone_reenters.
RemoteHold* Coordinator::anyones_hold(EventContext& context) const {
  for (RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    if (hold->stage == RemoteHold::Stage::held && !hold->is_lost(context.now())) return hold;
  }
  return nullptr;
}

RemoteHold* Coordinator::live_hold_of(Owner owner, EventContext& context) {
  if (planted(Bug::anyone_reenters)) return anyones_hold(context);
  for (RemoteHold* hold = held_.first(owner); hold != nullptr; hold = held_.next(*hold)) {
    if (!hold->is_lost(context.now())) return hold;
  }
  return nullptr;
}

// A hold of this process that a call of `type` must wait for, bounded by its deadline.
const RemoteHold* Coordinator::local_blocker(LockType type, EventContext& context) const {
  using Stage = RemoteHold::Stage;
  const bool reads = is_shared(type);
  if (in_the_way_[0] == 0 && (reads || in_the_way_[1] == 0)) return nullptr;
  for (const RemoteHold* hold = remotes_.first(); hold != nullptr; hold = hold->next) {
    const bool both_read = reads && is_shared(hold->type);
    if (both_read || hold->stage == Stage::claim) continue;
    if (hold->stage == Stage::ending) {
      // Behind a release, in order, an attempt finds the lock free.
      if (hold->releasing && !context_->settings->in_order) return hold;
      continue;
    }
    if (planted(Bug::local_holder_is_waited_for) || !hold->is_lost(context.now())) return hold;
  }
  return nullptr;
}

void Coordinator::count(Call& call, RemoteHold& hold) {
  auto& local_holds = call.by_lock ? hold.locks : hold.holds;
  ++local_holds[is_shared(call.type) ? 1 : 0];
  if (!call.by_lock) ++context_->hold_objects;
  if (!call.lease.is_watchdog()) return;
  if (hold.watchdogs++ == 0) {
    const Clock::time_point last = std::max(hold.granted_at, hold.check_sent);
    hold.check_at = std::min(hold.check_at, later(last, renewal_interval(hold)));
    due_by(hold.check_at);
  }
}

}  // namespace latchkey::detail
