// Acquires: re-entry, the local queues, the attempts at the backend, and the events about calls.
// tidy: long-file because an acquire is read from its call to its grant
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include <latchkey/parker.hpp>

#include "locks/coordinator/hold_events.hpp"
#include "locks/coordinator/idle_hold.hpp"
#include "locks/coordinator/immediate.hpp"
#include "locks/event_kinds.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using LastReply = Call::LastReply;
using Presence = RemoteHold::Presence;
using Stage = RemoteHold::Stage;
using Trace = AcquireProgress::Trace;

namespace {

/// How long a place in a FAIR queue lives without a request, which a waiter sends every 5 s.
constexpr std::chrono::seconds fair_queue_wait{15};
/// How many fencing tokens a claim that has them reserves if other calls of this process wait. A
/// claim never changes its number: a repeated attempt is answered with the token of the first.
constexpr std::uint32_t block_of_tokens = 64;
/// A claim with a shorter lease does not wait in the process queue: a grant would leave too little.
constexpr std::chrono::seconds least_queued_lease{1};
/// How long an attempt may leave something in the process queue: a place for 3 s, then a grant.
constexpr std::chrono::seconds process_queue_stay = std::chrono::seconds(3) + grant_lease;
/// How long it may leave a place in the queue for permits, which no grant follows.
constexpr std::chrono::seconds permit_place{3};

}  // namespace

// --- a call comes ---
//
//   acquire ── the owner holds the key ─────────────▶ reenter ──▶ answer, or a renewal (lease.cpp)
//      │ └──── nobody uses the key, and the backend
//      ▼       is in this process ──────────────────▶ start_at_once
//   enqueue ──▶ dispatch_waiters ──▶ dispatch_front ──▶ start_attempt ──▶ send_acquire ◀─┐
//                                                                             │          │
//   establish ◀── granted ── on_acquire_reply ◀── completed ◀── the backend ◀─┘          │
//      │                        └──── busy, or no reply ──▶ wait.cpp ── a release, or ───┘
//      ▼                                                                the next poll
//   answer, and dispatch_waiters for those behind

// An owner that holds the key already re-enters. Any other call waits in a queue, if only for as
// long as its attempt takes.
void Coordinator::acquire(Call& call, EventContext& event) {
  event_ = &event;
  call.kind = Call::Kind::acquire;
  probes::attempt(key.view(), call);
  if (call.member == nullptr) report_attempt(call);
  if (shard_->closed) return answer(call, Answer::closed);
  if (!holds_.empty()) {
    event_->read_again();  // deadlines are compared with the time
    RemoteHold* const hold = holds_.live_hold_of(call.owner, *event_);
    if (hold != nullptr) return reenter(call, *hold);
  } else if (event_->immediate != nullptr && !call.bundled && idle()) {
    if (start_at_once(call)) return;
  }
  enqueue(call);
}

// Takes an idle key without the queue. A call that the backend does not grant at once joins the
// queue with the claim that its attempt has made.
bool Coordinator::start_at_once(Call& call) {
  Outcome outcome;
  RemoteHold* const claim = try_at_once(call, *event_->immediate, now(), outcome);
  if (claim == nullptr) return false;
  call.hold = claim;
  call.ticket = shard_->ticket();
  if (claim->stage == Stage::held) {
    ++call.attempts;
    answer(call, Answer::granted);
    return true;
  }
  claim->call = &call;
  call.silent_since = now();
  waiters_.push_back(call);
  waiters_.started(call);
  if (claim->acquire.trace == Trace::none) {
    send_acquire(*claim);
  } else {
    ++call.attempts;
    on_acquire_reply(*claim, outcome);
  }
  set_alarm(call);
  return true;
}

// An owner enters its hold again in the same type, or by a READ inside a WRITE. The call gets a
// local hold at once if enough of the lease is left for it, and otherwise after a renewal.
void Coordinator::reenter(Call& call, RemoteHold& hold) {
  const LockType held_as = hold.local_type();
  const bool same = call.type == held_as && (hold.fenced || !call.wants_token());
  const bool read_in_write = call.type == LockType::READ && held_as == LockType::WRITE;
  if ((!same && !read_in_write) || call.reentry == Reentry::refuse) {
    return answer_deadlock(call, held_as, hold);
  }
  if (suffices_for(call, hold) || call.bundled) {
    call.lacks_delay = !hold.at_backend().has_whole_delay();
    call.hold = &hold;
    enter(call, hold);
    return answer(call, Answer::granted);
  }
  wait_for_renewal(call, hold);
}

void Coordinator::reenter_same_owner(RemoteHold& hold) {
  while (Call* const waiting = waiters_.first_of_owner(hold.owner)) {
    waiters_.remove(*waiting);
    RemoteHold* const claim = std::exchange(waiting->hold, nullptr);
    if (claim != nullptr) abandon(*claim);
    reenter(*waiting, hold);
  }
}

// FAIR calls attempt at once, because the backend keeps their order. All others queue in this
// process, and only the front attempts.
void Coordinator::enqueue(Call& call) {
  call.hold = nullptr;
  call.ticket = shard_->ticket();
  if (IdleHold::take(*this, call)) return;
  waiters_.push_back(call);
  if (refuse_other_kind(call)) return;
  if (call.type == LockType::FAIR) {
    start_attempt(call);
  } else {
    dispatch_waiters();
  }
  const bool waits = call.hold == nullptr && call.answer == Answer::pending;
  // A call for one attempt that is queued behind another of this process gets its answer at once.
  if (waits && call.makes_one_attempt()) return give_up_waiting(call);
  if (waits) report_waiting(call);
  set_alarm(call);
}

// The front starts unless a hold of this process blocks it, or a release in flight is about to tell
// whether other processes wait. If the front is a READ, the READs right behind it start with it:
// the holds of this process block them alike, one of them makes the attempts, and the others join
// it.
bool Coordinator::dispatch_front() {
  const bool reads = waiters_.front()->type == LockType::READ;
  const auto starts_read = [&] {
    const Call* const first = waiters_.next_to_start();
    return reads && first != nullptr && first->type == LockType::READ;
  };
  if (waiters_.next_to_start() != waiters_.front() && !starts_read()) return false;
  if (blocker_of(waiters_.next_to_start()->type) != nullptr) {
    return refuse_other_kind(*waiters_.next_to_start());
  }
  const bool awaits_word = yielding_.stage == Yielding::Stage::asking;
  if (awaits_word && !waiters_.next_to_start()->makes_one_attempt()) return false;
  do {
    Call& first = *waiters_.next_to_start();
    if (first.type == LockType::READ && join(first)) continue;
    if (will_join_front(first)) return false;
    start_attempt(first);
  } while (starts_read());
  return false;
}

// The call gets its claim, and attempts now unless it knows that it would be in vain or that others
// come first.
void Coordinator::start_attempt(Call& call) {
  if (call.hold != nullptr) return;
  try {
    make_claim_of(call);
  } catch (const std::bad_alloc&) {
    call.reason = "out of memory";
    return give_up(call, Answer::unavailable);
  }
  wake(call);  // from here on its thread drives
  if (no_permits_left(call)) return postpone_for_permits(*call.hold);
  yields(call) ? postpone_for_others(*call.hold) : send_acquire(*call.hold);
}

void Coordinator::make_claim_of(Call& call) {
  if (!can_submit()) throw std::bad_alloc();
  RemoteHold& claim = make_claim(call);
  waiters_.started(call);
  claim.call = &call;
  // Beside clients of other libraries the hold is handed over only once. When two threads then
  // alternate, the queue is empty between them: a call that had to wait counts as contended.
  const bool in_turn = call.waits && now() < yielding_.foreign_until;
  const bool others_wait = waiters_.front() == &call && (call.next != nullptr || in_turn);
  const bool hands_over = call.wants_token() && is_raced_for(call.type) && !call.bundled;
  if (hands_over && others_wait) claim.acquire.request.tokens = block_of_tokens;
  if (hands_over) IdleHold::reserve_tokens(*this, claim);
  call.hold = &claim;
}

void Coordinator::prepare_acquire(RemoteHold& claim) {
  Call& call = *claim.call;
  OwnedRequest& request = claim.acquire.request;
  prepare(request, Verb::acquire, claim, now());
  request.lease = claim.lease + claim.delay;
  request.queue_wait = queue_wait_of(call);
  request.queues = takes_place(claim);
  ++call.attempts;
  claim.acquire.start();
  // The claim leaves nothing at the backend after `expires_at`. A place in a queue may outlive the
  // lease.
  milliseconds stays = request.lease;
  if (claim.type == LockType::FAIR) {
    milliseconds place = request.queue_wait;
    // A release may grant it at the end of the place.
    if (settings().pushes) place += fair_grant_lease;
    stays = std::max(stays, place);
  }
  if (request.queues) {
    const bool permit = claim.type == LockType::PERMIT;
    stays = std::max<milliseconds>(stays, permit ? permit_place : process_queue_stay);
  }
  claim.expires_at = std::max(claim.expires_at, later(request.sent, stays));
  if (call.last_reply != LastReply::unknown) call.silent_since = request.sent;
}

// A release may grant the lock to a place in line, and the new holder has to learn of that before
// the lease ends: a short lease takes no place.
bool Coordinator::takes_place(const RemoteHold& claim) {
  if (claim.call->bundled || claim.call->makes_one_attempt()) return false;
  if (claim.type == LockType::PERMIT) return true;
  return settings().grants && is_raced_for(claim.type) && claim.lease >= least_queued_lease;
}

// A WRITE keeps new READs out no longer than it waits itself.
milliseconds Coordinator::queue_wait_of(const Call& call) {
  if (call.makes_one_attempt()) return milliseconds(0);
  if (call.type != LockType::WRITE) return fair_queue_wait;
  if (call.forever) return writer_precedence;
  const auto left = std::chrono::floor<milliseconds>(call.until - now());
  return std::clamp<milliseconds>(left, milliseconds(0), writer_precedence);
}

void Coordinator::send_acquire(RemoteHold& claim) {
  Call& call = *claim.call;
  if (!call.bundled && !can_submit()) {
    claim.acquire.poll_at = later(now(), repeat_pause);
    return set_alarm(call);
  }
  prepare_acquire(claim);
  if (!call.bundled) submit(claim.acquire.request);
  set_alarm(call);
}

// --- a reply comes ---

void Coordinator::completed(Request& request, Outcome& outcome, EventContext& event) {
  event_ = &event;
  RemoteHold* const hold = static_cast<OwnedRequest&>(request).hold;
  switch (request.verb) {
    case Verb::acquire:
    case Verb::acquire_all: note_reply(request, outcome); return on_acquire_reply(*hold, outcome);
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::expire: return on_check_reply(*hold, outcome);
    case Verb::release:
    case Verb::leave: note_reply(request, outcome); return on_release_reply(*hold, outcome);
    case Verb::subscribe:
    case Verb::unsubscribe:
      return on_subscription_reply(static_cast<OwnedRequest&>(request), outcome);
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

// A request that never ran says nothing about the backend: no memory was left to send it, or it was
// one of a batch that found another call in front of it. That another key of a batch was busy says
// nothing about this one.
void Coordinator::note_reply(const Request& request, const Outcome& outcome) noexcept {
  if (outcome.kind == Outcome::Kind::unknown) {
    silent_since_ = std::min(silent_since_, request.sent);
    if (!outcome.reason.empty()) silence_reason_ = std::string_view(outcome.reason);
    busy_at_ = {};
  } else if (!outcome.never_ran) {
    end_silence();
    const bool busy = outcome.kind == Outcome::Kind::busy && outcome.busy_member == 0;
    if (busy) busy_at_ = now();
  }
}

// A grant ends the wait, and so does a refusal. After a busy reply or none the call waits on.
void Coordinator::on_acquire_reply(RemoteHold& claim, Outcome& outcome) {
  const bool again = claim.acquire.end();
  claim.acquire.note(outcome);
  Call* const call = claim.call;
  if (call == nullptr) return on_late_acquire_reply(claim, outcome);
  if (outcome.kind == Outcome::Kind::granted) {
    note_permits_left(claim, outcome, again);
    claim.in_force = claim.lease;
    return establish(claim, outcome.token, end_of_lease(claim.acquire.request.sent, claim.lease));
  }
  call->holder = std::move(outcome.holder);
  call->reason = std::move(outcome.reason);
  switch (outcome.kind) {
    case Outcome::Kind::busy: return wait_for_release(claim, outcome, again);
    case Outcome::Kind::refused: return give_up(*call, Answer::refused);
    case Outcome::Kind::granted:
    case Outcome::Kind::gone:
    case Outcome::Kind::unknown: return wait_for_answer(claim);
  }
}

// The call gave up while the attempt was in flight. The release was sent after the attempt; if it
// may have overtaken it, what the attempt left, a hold or a place, is released once more.
void Coordinator::on_late_acquire_reply(RemoteHold& claim, const Outcome& outcome) {
  const bool busy = outcome.kind == Outcome::Kind::busy;
  if (busy) claim.place.number = outcome.place;
  const bool queued = busy && (claim.type == LockType::FAIR || claim.place.number != 0);
  const bool left_something =
      outcome.kind == Outcome::Kind::granted || queued || outcome.kind == Outcome::Kind::refused;
  ReleaseProgress& release = claim.release;
  if (release.in_flight() && left_something && !settings().in_order) release.want_another();
  if (claim.never_ran() && !release.in_flight()) release.repeat_at = Clock::never();
  const bool released = claim.presence == Presence::released;
  if (released && (left_something || copy_may_run(claim))) return send_release(claim);
  erase_if_done(claim);
}

// The deadline counts from the last attempt that was answered with the claim's place. A renewal
// soon brings the lease that the call asked for, unless the hold ends before.
void Coordinator::on_grant(RemoteHold& claim, std::uint64_t token) {
  const bool fair = claim.type == LockType::FAIR;
  const auto lease = std::min<milliseconds>(claim.lease, fair ? fair_grant_lease : grant_lease);
  const Clock::time_point deadline = end_of_lease(claim.place.sent_at, lease);
  const bool ends_soon = fair && deadline - now() < least_rest_of(lease);
  const bool too_little = ends_soon || claim.delay.count() != 0;
  // One more attempt finds the hold, with its lock_delay, or confirms it if grants are not offered.
  if (too_little || !settings().grants) return retry_now(claim);
  claim.place.number = 0;
  claim.in_force = lease;
  establish(claim, token, deadline);
  if (claim.stage != Stage::held) return;
  claim.check.due_at = Clock::never();  // it counted from the last attempt
  renew_soon(claim, claim.lease);
}

// The claim becomes the hold of its call, and the calls behind it may start: READs beside a READ,
// re-entries of the same owner. A grant whose lease has already ended is given back.
void Coordinator::establish(RemoteHold& claim, std::uint64_t token, Clock::time_point deadline) {
  Call& call = *claim.call;
  if (deadline <= now()) return restart_after_late_grant(claim);
  waiters_.remove(call);
  claim.call = nullptr;
  claim.acquire.poll_at = Clock::never();
  grant(claim, call, token, deadline, now());
  holds_.due_by(claim.subscription.retry_at);
  if (claim.type == LockType::READ) offer_to_reads(claim);
  answer(call, Answer::granted);
  reenter_same_owner(claim);
  if (claim.subscription.stage == Subscription::Stage::on) unsubscribe(claim.subscription);
  dispatch_waiters();
  unsubscribe_if_unused();
}

// The new claim has an id that no late release of the old one can end.
void Coordinator::restart_after_late_grant(RemoteHold& claim) {
  Call& call = *claim.call;
  call.hold = nullptr;
  claim.call = nullptr;
  call.last_reply = LastReply::unknown;
  call.reason = "the grant arrived after its lease had ended";
  start_release(claim, nullptr);
  if (now() >= end_of_wait(call, settings())) return give_up(call, Answer::unavailable);
  start_attempt(call);
}

// --- a claim ---

// Without memory for the text others read only the id of the hold.
void Coordinator::announce(RemoteHold& claim) const {
  try {
    claim.announce(announcement_of(claim, settings()));
  } catch (const std::bad_alloc&) {
    claim.announce({});
  }
}

HoldLimits::Number Coordinator::begin_limit(const AcquireTerms& terms, RemoteHold& hold,
                                            Clock::time_point now) noexcept {
  if (terms.member != nullptr) return 0;
  return hold.limits.add(later(now, terms.lease.held_at_most()));
}

// The local hold begins now, which is later than the hold at the backend if that is re-entered,
// joined or handed over.
void Coordinator::begin_limit_of(Call& call, RemoteHold& hold) {
  call.limit = begin_limit(call, hold, now());
  holds_.due_by(hold.limits.earliest());
}

// --- events for the listener ---

bool Coordinator::reports(Event::Kind kind) const noexcept {
  using Events = CoordinatorSettings::Events;
  const Events wanted = settings().events;
  return wanted == Events::everything || (wanted == Events::losses && !is_routine(kind));
}

template <class CallOrHold, class Fill>
void Coordinator::publish(Event::Kind kind, const CallOrHold& about, Fill&& fill) noexcept {
  try {
    Event event;
    event.kind = kind;
    event.type = about.type;
    event.key = key.view().substr(settings().prefix_size);
    event.owner = about.owner.number();
    event.origin = about.origin;
    fill(event);
    event_->out.effects_for_others().events.push_back(std::move(event));
  } catch (const std::bad_alloc&) {
    ++event_->out.unreported;
  }
}

// Reports how long `hold` has been held, and how its lease stands.
void Coordinator::report(Event::Kind kind, const RemoteHold& hold, std::string_view text) noexcept {
  if (hold.unreported) return;
  publish(kind, hold, [&](Event& event) {
    describe_hold(event, hold, now());
    event.held = now() - hold.granted_at;
    if (kind == Event::Kind::renewed) event.late = now() - hold.check.was_due;
    event.text = text;
    event.held_too_long = hold.held_too_long;
  });
}

// Reports how long the acquire `call` has taken, and what came of it.
void Coordinator::report(Event::Kind kind, const Call& call) noexcept {
  publish(kind, call, [&](Event& event) {
    describe_call(event, call, now());
    if (kind == Event::Kind::waiting) event.holder = holder_of(call);
  });
}

void Coordinator::report_outcome(const Call& call) noexcept {
  if (call.leaves_report()) return;
  const auto kind = event_of(call);
  if (kind && reports(*kind)) report(*kind, call);
}

void Coordinator::report_attempt(Call& call) noexcept {
  if (call.member != nullptr && std::exchange(call.member->attempt, true)) return;
  if (reports(Event::Kind::attempt)) report(Event::Kind::attempt, call);
}

// A hold that was lost before it was reported has its end reported as well.
void Coordinator::report_member(Call& call, EventContext& event) {
  event_ = &event;
  call.ticket = call.member->ticket;
  report_attempt(call);
  report_outcome(call);
  if (call.answer != Answer::granted || !std::exchange(call.hold->unreported, false)) return;
  if (call.hold->is_marked_lost() && reports(Event::Kind::lost)) {
    report(Event::Kind::lost, *call.hold, "its lease ended");
  }
}

// --- the calls' threads ---

// Asynchronous calls are notified only when they have an answer.
void Coordinator::wake(Call& call) {
  const bool is_caller = &call == event_->caller;
  const bool is_attended = call.completion == nullptr;
  if (is_caller || (!is_attended && call.answer == Answer::pending)) return;
  if (std::exchange(call.waking, true)) return;
  if (!is_attended) return event_->out.completed.push_back(call);
  if (event_->out.wakes.make_room()) return event_->out.wakes.push_back(&call);
  // The thread wakes up now, and waits for the mutex before it reads the answer.
  call.waking = false;
  if (call.parker != nullptr) call.parker->unpark();
}

void Coordinator::set_alarm(Call& call) {
  if (&call == event_->caller || call.answer != Answer::pending) return;
  const Clock::time_point at = alarm_of(call);
  if (call.completion != nullptr) return tick_unattended_by(at);
  const bool earlier = at < call.wake_at;
  call.wake_at = at;
  if (earlier) wake(call);
}

}  // namespace latchkey::inline v1::detail
