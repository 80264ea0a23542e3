// The decisions about acquiring a lock.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/logic/acquire_logic.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "locks/coordinator/logic/immediate_logic.hpp"
#include "locks/coordinator/logic/join_logic.hpp"
#include "locks/coordinator/logic/lease_logic.hpp"
#include "locks/coordinator/logic/permit_logic.hpp"
#include "locks/coordinator/logic/release_logic.hpp"
#include "locks/coordinator/logic/subscription_logic.hpp"
#include "locks/coordinator/logic/wait_logic.hpp"
#include "locks/coordinator/logic/yield_logic.hpp"
#include "locks/coordinator/wait_times.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using LastReply = Call::LastReply;

void AcquireLogic::acquire(Call& call) {
  call.kind = Call::Kind::acquire;
  probes::attempt(state_.key.view(), call);
  if (call.member == nullptr) report_attempt(call);
  if (shard().closed) return answer(call, Answer::closed);
  if (!state_.holds.empty()) {
    context_.read_again();  // deadlines are compared with the time
    RemoteHold* const hold = state_.holds.live_hold_of(call.owner, context_);
    if (hold != nullptr) return reenter(call, *hold);
  } else if (context_.immediate != nullptr && !call.bundled && state_.idle()) {
    if (start_at_once(call)) return;
  }
  enqueue(call);
}

// A call that is not granted at once waits with the claim that it has already.
bool AcquireLogic::start_at_once(Call& call) {
  Outcome outcome;
  ImmediateLogic immediate(home_, *context_.immediate, now());
  RemoteHold* const claim = immediate.acquire(call, outcome);
  if (claim == nullptr) return false;
  call.hold = claim;
  call.ticket = shard().ticket();
  if (claim->stage == RemoteHold::Stage::held) {
    answer(call, Answer::granted);
    return true;
  }
  claim->call = &call;
  call.silent_since = now();
  state_.waiters.push_back(call);
  state_.waiters.started(call);
  if (claim->attempts == RemoteHold::Attempts::none) {
    send_acquire(*claim);
  } else {
    on_acquire_reply(*claim, outcome);
  }
  set_alarm(call);
  return true;
}

void AcquireLogic::reenter(Call& call, RemoteHold& hold) {
  const LockType held_as = hold.local_type();
  const bool same = call.type == held_as && (hold.fenced || !call.wants_token());
  const bool read_in_write = call.type == LockType::READ && held_as == LockType::WRITE;
  if ((!same && !read_in_write) || call.reentry == Reentry::refuse) {
    return answer_deadlock(call, held_as, hold);
  }
  if (LeaseLogic(*this).suffices_for(call, hold) || call.bundled) {
    call.lacks_delay = !hold.at_backend().has_whole_delay();
    call.hold = &hold;
    count(call, hold);
    return answer(call, Answer::granted);
  }
  LeaseLogic(*this).wait_for_renewal(call, hold);
}

void AcquireLogic::join_same_owner(RemoteHold& hold) {
  while (Call* const waiting = state_.waiters.first_of_owner(hold.owner)) {
    state_.waiters.remove(*waiting);
    RemoteHold* const claim = std::exchange(waiting->hold, nullptr);
    if (claim != nullptr) ReleaseLogic(*this).abandon(*claim);
    reenter(*waiting, hold);
  }
}

void AcquireLogic::enqueue(Call& call) {
  call.hold = nullptr;
  call.ticket = shard().ticket();
  state_.waiters.push_back(call);
  if (WaitLogic(*this).refuse_other_kind(call)) return;
  if (call.type == LockType::FAIR) {
    start_attempt(call);
  } else {
    dispatch_waiters();
  }
  const bool waits = call.hold == nullptr && call.answer == Answer::pending;
  // A call for one attempt that is queued behind another of this process gets its answer at once.
  if (waits && call.makes_one_attempt()) return WaitLogic(*this).give_up_waiting(call);
  if (waits) WaitLogic(*this).report_waiting(call);
  set_alarm(call);
}

// One check for a blocker serves all READs in front, because the holds of this process block them
// alike. One of the READs makes the attempts, and the others join its hold.
bool AcquireLogic::dispatch_front() {
  WaitQueues& waiters = state_.waiters;
  const bool reads = waiters.front()->type == LockType::READ;
  const auto next_reads = [&] {
    return reads && waiters.next_to_start() != nullptr &&
           waiters.next_to_start()->type == LockType::READ;
  };
  if (waiters.next_to_start() != waiters.front() && !next_reads()) return false;
  if (blocker_of(waiters.next_to_start()->type) != nullptr) {
    return WaitLogic(*this).refuse_other_kind(*waiters.next_to_start());
  }
  if (YieldLogic(*this).asks() && !waiters.next_to_start()->makes_one_attempt()) return false;
  do {
    Call& next = *waiters.next_to_start();
    if (next.type == LockType::READ && JoinLogic(*this).join(next)) continue;
    if (JoinLogic(*this).awaits_neighbour(next)) return false;
    start_attempt(next);
  } while (next_reads());
  return false;
}

void AcquireLogic::start_attempt(Call& call) {
  if (call.hold != nullptr) return;
  try {
    make_claim(call);
  } catch (const std::bad_alloc&) {
    call.reason = "out of memory";
    return WaitLogic(*this).give_up(call, Answer::unavailable);
  }
  wake(call);  // from here on its thread drives
  PermitLogic permits(*this);
  if (permits.none_left(call)) return permits.postpone(*call.hold);
  YieldLogic yield(*this);
  yield.yields(call) ? yield.postpone(*call.hold) : send_acquire(*call.hold);
}

// Everything that may throw std::bad_alloc comes before the first change.
void AcquireLogic::make_claim(Call& call) {
  if (!can_submit()) throw std::bad_alloc();
  RemoteHold& claim = KeyLogic::make_claim(call);
  state_.waiters.started(call);
  claim.call = &call;
  // Beside clients of other libraries the hold is handed over only once. When two threads then
  // alternate, the queue is empty between them: a call that had to wait counts as contended.
  const bool in_turn = call.waits && now() < state_.yielding.foreign_until;
  const bool others_wait = state_.waiters.front() == &call && (call.next != nullptr || in_turn);
  const bool hands_over = call.wants_token() && is_raced_for(call.type) && !call.bundled;
  if (hands_over && others_wait) claim.acquire_request.tokens = block_of_tokens;
  call.hold = &claim;
}

void AcquireLogic::prepare_acquire(RemoteHold& claim) {
  Call& call = *claim.call;
  RemoteHold::HoldRequest& request = claim.acquire_request;
  prepare(request, Verb::acquire, claim);
  request.lease = claim.lease + claim.delay;
  request.queue_wait = queue_wait_of(call);
  request.queues = queues(claim);
  request.in_flight = true;
  // A place in a queue may outlive the lease.
  std::chrono::milliseconds stays = request.lease;
  if (claim.type == LockType::FAIR) {
    std::chrono::milliseconds place = request.queue_wait;
    // A release may grant it at the end of the place.
    if (settings().pushes) place += fair_grant_lease;
    stays = std::max(stays, place);
  }
  if (request.queues) {
    const bool permit = claim.type == LockType::PERMIT;
    stays = std::max<std::chrono::milliseconds>(stays, permit ? permit_place : process_queue_stay);
  }
  claim.expires_at = std::max(claim.expires_at, later(request.sent, stays));
  claim.poll_at = Clock::never();
  claim.retry_requested = false;
  if (call.last_reply != Call::LastReply::unknown) call.silent_since = request.sent;
}

// A release may grant the lock to a place in line, and the new holder has to learn of that before
// the lease ends: a short lease takes no place.
bool AcquireLogic::queues(const RemoteHold& claim) {
  if (claim.call->bundled || claim.call->makes_one_attempt()) return false;
  if (claim.type == LockType::PERMIT) return true;
  return settings().grants && is_raced_for(claim.type) && claim.lease >= least_queued_lease;
}

// A WRITE keeps new READs out no longer than it waits itself.
std::chrono::milliseconds AcquireLogic::queue_wait_of(const Call& call) {
  using std::chrono::milliseconds;
  if (call.makes_one_attempt()) return milliseconds(0);
  if (call.type != LockType::WRITE) return queue_wait;
  if (call.forever) return writer_precedence;
  const auto left = std::chrono::floor<milliseconds>(call.until - now());
  return std::clamp<milliseconds>(left, milliseconds(0), writer_precedence);
}

void AcquireLogic::send_acquire(RemoteHold& claim) {
  Call& call = *claim.call;
  if (!call.bundled && !can_submit()) {
    claim.poll_at = later(now(), repeat_pause);
    return set_alarm(call);
  }
  prepare_acquire(claim);
  if (!call.bundled) submit(claim.acquire_request);
  set_alarm(call);
}

void AcquireLogic::on_acquire_reply(RemoteHold& claim, Outcome& outcome) {
  claim.acquire_request.in_flight = false;
  claim.note_attempt(outcome);
  Call* const call = claim.call;
  if (call == nullptr) return on_late_reply(claim, outcome);
  if (outcome.kind == Outcome::Kind::granted) {
    PermitLogic(*this).note_left(claim, outcome);
    claim.in_force = claim.lease;
    return establish(claim, outcome.token, end_of_lease(claim.acquire_request.sent, claim.lease));
  }
  call->holder = std::move(outcome.holder);
  call->reason = std::move(outcome.reason);
  switch (outcome.kind) {
    case Outcome::Kind::busy: return WaitLogic(*this).wait_for_release(claim, outcome);
    case Outcome::Kind::refused: return WaitLogic(*this).give_up(*call, Answer::refused);
    case Outcome::Kind::granted:
    case Outcome::Kind::gone:
    case Outcome::Kind::unknown: return WaitLogic(*this).wait_for_answer(claim);
  }
}

// The call gave up while the attempt was in flight. The release was sent after the attempt; if it
// may have overtaken it, what the attempt left, a hold or a place, is released once more.
void AcquireLogic::on_late_reply(RemoteHold& claim, const Outcome& outcome) {
  const bool in_order = settings().in_order;
  const bool busy = outcome.kind == Outcome::Kind::busy;
  if (busy) claim.place = outcome.place;
  const bool queued = busy && (claim.type == LockType::FAIR || claim.place != 0);
  const bool left_something =
      outcome.kind == Outcome::Kind::granted || queued || outcome.kind == Outcome::Kind::refused;
  if (claim.release_request.in_flight) claim.release_again = left_something && !in_order;
  if (claim.never_ran() && !claim.release_request.in_flight) claim.repeat_at = Clock::never();
  const bool released = claim.presence == RemoteHold::Presence::released;
  if (released && (left_something || copy_may_run(claim)))
    return ReleaseLogic(*this).send_release(claim);
  ReleaseLogic(*this).erase_if_done(claim);
}

// The deadline counts from the last attempt that was answered with the claim's place: the grant is
// not older. A renewal soon brings the lease that the call asked for, unless the hold ends before.
void AcquireLogic::on_granted(RemoteHold& claim, std::uint64_t token) {
  const bool fair = claim.type == LockType::FAIR;
  const auto lease = std::min<milliseconds>(claim.lease, fair ? fair_grant_lease : grant_lease);
  const Clock::time_point deadline = end_of_lease(claim.place_sent, lease);
  const bool too_little = (fair && !enough_remains(deadline, lease)) || claim.delay.count() != 0;
  // One more attempt finds the hold, with its lock_delay, or confirms it if grants are not offered.
  if (too_little || !settings().grants) return WaitLogic(*this).retry_now(claim);
  claim.place = 0;
  claim.in_force = lease;
  establish(claim, token, deadline);
  if (claim.stage != RemoteHold::Stage::held) return;
  claim.check_at = Clock::never();  // it counted from the last attempt
  LeaseLogic(*this).renew_soon(claim, claim.lease);
}

void AcquireLogic::establish(RemoteHold& claim, std::uint64_t token, Clock::time_point deadline) {
  Call& call = *claim.call;
  if (deadline <= now()) return restart_after_late_grant(claim);
  state_.waiters.remove(call);
  claim.call = nullptr;
  claim.poll_at = Clock::never();
  grant(claim, call, token, deadline, now());
  state_.holds.due_by(claim.subscription.retry_at);
  if (claim.type == LockType::READ) JoinLogic(*this).offer(claim);
  answer(call, Answer::granted);
  join_same_owner(claim);
  SubscriptionLogic subscriptions(*this);
  if (claim.subscription.stage == Subscription::Stage::on) {
    subscriptions.unsubscribe(claim.subscription);
  }
  dispatch_waiters();
  subscriptions.unsubscribe_if_unused();
}

// The next attempt has an id of its own.
void AcquireLogic::restart_after_late_grant(RemoteHold& claim) {
  Call& call = *claim.call;
  call.hold = nullptr;
  claim.call = nullptr;
  call.last_reply = LastReply::unknown;
  call.reason = "the grant arrived after its lease had ended";
  ReleaseLogic(*this).end(claim, nullptr);
  if (now() >= end_of_wait(call, settings()))
    return WaitLogic(*this).give_up(call, Answer::unavailable);
  start_attempt(call);
}

}  // namespace latchkey::inline v1::detail
