// Sharing: calls of this process that hold in turn or together, the permits of a semaphore, and
// letting other processes go first.
// tidy: long-file because each section is about holding less often than calls are granted
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <stop_token>
#include <string_view>
#include <utility>

#include "core/thread_cache.hpp"
#include "locks/coordinator/immediate.hpp"
#include "locks/coordinator/wait_times.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using LastReply = Call::LastReply;
using Presence = RemoteHold::Presence;
using Stage = RemoteHold::Stage;
using Trace = AcquireProgress::Trace;

namespace {

/// A cohort has at most one more call than this.
constexpr std::uint32_t most_hand_offs = 1'000;
/// While clients of other libraries take part, which need the backend for each call.
constexpr std::uint32_t most_beside_foreign = 1;

/// The end of the cohort that begins with the grant of `hold`.
Clock::time_point end_of_cohort(const RemoteHold& hold,
                                const CoordinatorSettings& settings) noexcept {
  return later(hold.granted_at, std::min<Clock::duration>(settings.cohort, hold.lease / 10));
}

/// The limit of a hold ends those that have joined it as well. It began a moment before, so a call
/// with the same limit, or a shorter one, loses no more than that moment.
bool ends_with(const Call& call, const RemoteHold& hold) {
  const std::chrono::milliseconds limit = call.lease.held_at_most();
  return limit.count() != 0 && later(hold.granted_at, limit) <= hold.limits.earliest();
}

/// How long those who waited are assumed to do so again.
constexpr std::chrono::seconds remembered{1};

/// A process that was notified sends its attempt after half a round trip, which takes another half,
/// and its thread has to wake up in between.
Clock::duration time_to_take(Clock::duration round_trip) noexcept {
  constexpr Clock::duration least = milliseconds(1), most = milliseconds(250);
  return std::clamp(2 * round_trip, least, most);
}

}  // namespace

// --- hand-off ---
//
// The call that has waited longest in this process takes over the hold that another one releases,
// and the backend is not asked. A cohort, the calls that hold under one id in turn, is bounded by
// time and by number, because other processes wait meanwhile. (Dice, Marathe, Shavit, "Lock
// Cohorting", PPoPP 2012.)
//
// Never for FAIR, whose order is the backend's, nor for READ, which others may share at any time.
// Permits of a semaphore go to the next call if that wants as many.

bool Coordinator::hand_over(RemoteHold& hold, Call* releaser) {
  Call* const heir = waiters_.front();
  if (heir == nullptr || !may_hand_over(hold, *heir) || cohort_has_ended(hold)) return false;
  if (reports(Event::Kind::released)) report(Event::Kind::released, hold);
  if (releaser != nullptr) answer(*releaser, Answer::granted);
  waiters_.remove(*heir);
  holds_.change_owner(hold, heir->owner);
  ++hold.hand_offs;
  RemoteHold* const claim = heir->hold;  // PERMIT: its own, by which it has asked before
  give_to(hold, *heir);
  if (claim == nullptr) return true;
  pass_on(*claim);
  dispatch_waiters();  // if it was abandoned
  return true;
}

void Coordinator::give_to(RemoteHold& hold, Call& heir) {
  probes::handed_over(key.view(), heir);
  hold.stop = std::stop_source(std::nostopstate);
  hold.end_revocation();
  hold.granted_at = now();
  hold.limits.clear();  // each call in turn has a limit of its own
  hold.unreported = false;
  hold.fenced = heir.wants_token();
  if (hold.fenced) {
    ++hold.token;
    --hold.spare_tokens;
  }
  hold.origin = heir.origin;
  hold.cache = cache_of(heir.lease, settings());
  // Others still read that the process keeps a hold that was idle; its request may be in flight.
  if (!hold.was_idle() && !settings().announcement.empty()) announce(hold);
  heir.hold = &hold;
  enter(heir, hold);
  hold.check.wanted = std::chrono::milliseconds(0);  // by the call before it, perhaps for longer
  renew_soon_for(heir, hold);
  answer(heir, Answer::granted);
  reenter_same_owner(hold);
}

// The key of a revoked hold goes to others, who have asked for it.
bool Coordinator::may_hand_over(const RemoteHold& hold, const Call& heir) {
  const bool permits = hold.type == LockType::PERMIT;
  if (heir.type != hold.type || (!is_raced_for(hold.type) && !permits)) return false;
  if (permits ? !may_take_permits_over(hold, heir) : heir.hold != nullptr) return false;
  if (shard_->closed) return false;
  if (!hold.is_settled() || hold.pins > 0) return false;
  if (hold.revoked.load(std::memory_order_relaxed)) return false;
  return suits(hold, heir);
}

// The hold ends no later than the next call asked for, after the same lock_delay, and enough
// remains for a renewal.
bool Coordinator::suits(const RemoteHold& hold, const Call& heir) {
  if (heir.wants_token() && hold.spare_tokens == 0) return false;
  if (delay_of(heir.lease) != hold.delay || !hold.has_whole_delay()) return false;
  const std::chrono::milliseconds wanted = length_of(heir.lease);
  return hold.lease <= wanted && enough_remains(hold, wanted);
}

// The first hand-off sets the end of the cohort, which began with the grant.
bool Coordinator::cohort_has_ended(RemoteHold& hold) {
  if (hold.hand_offs == 0) hold.cohort_ends = end_of_cohort(hold, settings());
  const bool foreign = now() < yielding_.foreign_until;
  const std::uint32_t most = foreign ? most_beside_foreign : most_hand_offs;
  return now() >= hold.cohort_ends || hold.hand_offs >= most;
}

// --- READs that share a hold ---
//
// A READ joins the hold that another READ of this process was granted shortly before, instead of
// requesting one of its own. It is a hold with an owner of its own, and has the id and the lease of
// the one that it joined; the last of them that ends gives the lock back. A hold can be joined for
// as long as a cohort lasts, because a WRITE of another process may wait meanwhile.

void Coordinator::offer_to_reads(RemoteHold& hold) noexcept {
  hold.cohort_ends = end_of_cohort(hold, settings());
  holds_.set_joinable(hold);
}

// A READ joins the READ in front of it when that is granted. A call for one attempt has no time for
// that; it starts the attempts of those in front of it as well.
bool Coordinator::will_join_front(const Call& call) {
  if (call.type != LockType::READ || &call == waiters_.front()) return false;
  if (settings().cohort == Clock::duration::zero()) return false;
  return !waiters_.front()->bundled && !call.bundled && !waiters_.back()->makes_one_attempt();
}

bool Coordinator::join(Call& call) {
  RemoteHold* const hold = holds_.joinable();
  if (hold == nullptr || !may_join(*hold, call)) return false;
  RemoteHold* mine = other_hold_of(call.owner);  // a thread with the same owner has just joined
  if (mine == nullptr) mine = join(call, *hold);
  if (mine == nullptr) return false;
  reenter_same_owner(*mine);
  unsubscribe_if_unused();
  return true;
}

RemoteHold* Coordinator::join(Call& call, RemoteHold& hold) {
  RemoteHold* joiner = nullptr;
  try {
    joiner = &make_joiner(call, hold);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  waiters_.remove(call);
  call.hold = joiner;
  enter(call, *joiner);
  joiner->deadline.set(std::min(joiner->deadline_point(), joiner->limits.earliest()));
  renew_soon_for(call, hold);
  answer(call, Answer::granted);
  return joiner;
}

// Skips a hold that is lost or has no local hold: a renewal that fails becomes an acquire, and must
// not join itself.
RemoteHold* Coordinator::other_hold_of(Owner owner) {
  RemoteHold* hold = holds_.held_by(owner);
  while (hold != nullptr && (hold->local_holds() == 0 || hold->is_lost(now()))) {
    hold = HoldTable::next_of_owner(*hold);
  }
  return hold;
}

// Whether the type of `hold` at the backend is certain, its cohort lasts, and enough of the lease
// remains for a renewal. The key stays locked after a loss for no less than the call asks for.
bool Coordinator::may_join(const RemoteHold& hold, const Call& call) {
  if (call.bundled || call.hold != nullptr || shard_->closed) return false;
  if (now() >= hold.cohort_ends || hold.is_lost(now())) return false;
  if (hold.revoked.load(std::memory_order_relaxed)) return false;
  const bool is_read = hold.acquire.request.type == LockType::READ;
  const bool answered = hold.acquire.trace == Trace::ran;
  if (hold.has_limit() && !ends_with(call, hold)) return false;
  if (delay_of(call.lease) > hold.delay_in_force) return false;
  if (!is_read || !answered || hold.presence != Presence::possible) return false;
  return enough_remains(hold, length_of(call.lease));
}

RemoteHold& Coordinator::make_joiner(const Call& call, RemoteHold& hold) {
  RemoteHold& joiner = ThreadCache<RemoteHold>::take();
  joiner.home = this;
  joiner.space = shard_->space;
  joiner.prefix_size = settings().prefix_size;
  joiner.id = hold.id;
  joiner.type = LockType::READ;
  joiner.owner = call.owner;
  joiner.origin = call.origin;
  joiner.cache = cache_of(call.lease, settings());
  joiner.lease = hold.lease;
  joiner.in_force = hold.in_force;
  joiner.delay = joiner.delay_in_force = hold.delay_in_force;
  joiner.acquire.trace = Trace::ran;
  joiner.granted_at = now();
  joiner.deadline.set(hold.deadline_point());
  joiner.joined = &hold;
  ++hold.joiners;
  holds_.add_claim(joiner);
  holds_.set_held(joiner);
  holds_.due_by(joiner.due());
  return joiner;
}

// A renewal that fails becomes an acquire, which may join: what is the last hold is decided after
// that.
RemoteHold* Coordinator::leave_shared(RemoteHold& hold, Clock::time_point retain_until,
                                      Call*& call) {
  RemoteHold& shared = hold.at_backend();
  if (hold.is_lost(now())) {
    declare_lost(hold, "its lease ended");
    if (call != nullptr) answer_lost(*std::exchange(call, nullptr), hold);
  } else {
    fail_renewals(hold);
    Clock::time_point& until = shared.retention.asked_until;
    until = std::max(until, std::min(retain_until, hold.deadline_point()));
  }
  const bool is_joiner = hold.joined != nullptr;
  const bool is_last = is_joiner && shared.joiners == 1 && shared.local_holds() == 0;
  if (!is_last && !hold.is_marked_lost()) {
    if (reports(Event::Kind::released)) report(Event::Kind::released, hold);
    if (call != nullptr) answer(*std::exchange(call, nullptr), Answer::granted);
  }
  if (!is_joiner) {
    // The holds that have joined it are left: it stays, and no owner re-enters it. Whatever becomes
    // of it meanwhile is an end of theirs, and not another one of its own.
    shared.end_reported = true;
    holds_.change_owner(shared, Owner::nobody());
    return nullptr;
  }
  if (is_last) take_place_of(shared, hold);
  --shared.joiners;
  holds_.erase_held(hold);
  return is_last ? &shared : nullptr;
}

// The end of the hold is reported with the owner, the origin and the grant of the last holder.
void Coordinator::take_place_of(RemoteHold& hold, const RemoteHold& last) {
  holds_.change_owner(hold, last.owner);
  hold.origin = last.origin;
  hold.cache = last.cache;
  hold.granted_at = last.granted_at;
  hold.unreported = last.unreported;
  hold.end_reported = last.is_marked_lost();
}

void Coordinator::renew_joiners(RemoteHold& hold) {
  const Clock::time_point deadline = hold.deadline_point();
  holds_.for_each([&](RemoteHold& each) {
    if (each.joined != &hold) return;
    each.lease = hold.lease;
    each.in_force = hold.in_force;
    if (each.deadline.move(std::min(deadline, each.limits.earliest()))) return;
    mark_lost(each, lost_before_renewal);
    fail_renewals(each);
  });
  dispatch_waiters();
}

void Coordinator::lose_joiners(RemoteHold& hold, std::string_view reason) {
  holds_.for_each([&](RemoteHold& each) {
    if (each.joined != &hold) return;
    if (hold.held_too_long && each.has_limit()) each.note_held_too_long();
    mark_lost(each, reason);
  });
  while (Call* const call = hold.renewals.first()) fail_renewals(*call->hold);
}

// --- permits ---
//
// A hold of a semaphore has an owner of its own, and does not block others of the same process. So
// the first waiting call has a claim although this process holds permits, and has asked in vain.
// The calls behind it do not ask in vain as well: the claim of a call that takes over permits is
// passed on to the next call, also while an attempt is in flight, and after the grant of the last
// permit the next call waits for a release before it asks.

// A release that was notified while the attempt was under way may be later than the grant.
void Coordinator::note_permits_left(const RemoteHold& claim, const Outcome& grant, bool again) {
  if (claim.type != LockType::PERMIT) return;
  const bool none = grant.permits_left == 0U && !again;
  no_permits_until_ = none ? later(now(), safety_poll.least) : Clock::time_point{};
}

bool Coordinator::no_permits_left(const Call& call) {
  if (call.type != LockType::PERMIT || call.makes_one_attempt()) return false;
  return subscription_.stage == Subscription::Stage::on && now() < no_permits_until_;
}

// The claim counts as busy: others have all permits.
void Coordinator::postpone_for_permits(RemoteHold& claim) {
  Call& call = *claim.call;
  call.last_reply = LastReply::busy;
  claim.acquire.poll_at = no_permits_until_;
  report_waiting(call);
  set_alarm(call);
}

bool Coordinator::may_take_permits_over(const RemoteHold& hold, const Call& heir) {
  if (heir.permits.taken != hold.permits()) return false;
  const bool asks = heir.hold != nullptr && heir.hold->acquire.in_flight();
  return !asks || (heir.next != nullptr && may_inherit(*heir.hold, *heir.next));
}

// No attempt of the claim was answered with a grant, and none is lost. One that is in flight must
// be what the heir would have sent itself, for its reply will be the heir's. So must those before
// it, if the backend does not keep the order: a copy of one would take its number of permits.
bool Coordinator::may_inherit(const RemoteHold& claim, const Call& heir) const {
  const bool needs_claim = heir.type == LockType::PERMIT && heir.hold == nullptr && !heir.bundled;
  if (!needs_claim || claim.call->bundled || claim.acquire.trace > Trace::ran) return false;
  const bool same_number = heir.permits == claim.acquire.request.permits;
  if (!same_number && !settings().in_order) return false;
  if (!claim.acquire.in_flight()) return true;
  const bool same_note = settings().announcement.empty() || heir.origin.site == claim.origin.site;
  return same_note && same_number && length_of(heir.lease) == claim.lease &&
         delay_of(heir.lease) == claim.delay;
}

void Coordinator::pass_on(RemoteHold& claim) {
  Call* const heir = waiters_.front();
  const bool passes = heir != nullptr && !shard_->closed && may_inherit(claim, *heir);
  if (!passes) return abandon(claim);
  // Without an attempt in flight and without a poll, nothing would advance the claim: the heir
  // asks.
  const bool waits = claim.acquire.in_flight() || claim.acquire.poll_at != Clock::never();
  const bool asks_anew = !waits || heir->permits.taken != claim.permits();
  Call& asked_for = *std::exchange(claim.call, heir);
  claim.owner = heir->owner;
  claim.origin = heir->origin;
  claim.cache = cache_of(heir->lease, settings());
  if (!claim.acquire.in_flight()) {
    claim.lease = length_of(heir->lease);
    claim.delay = delay_of(heir->lease);
    claim.set_permits(heir->permits);
    if (!settings().announcement.empty()) announce(claim);
  }
  heir->hold = &claim;
  heir->last_reply = asked_for.last_reply;
  heir->silent_since = std::max(asked_for.silent_since, heir->asked);
  heir->reason = asked_for.reason.view();
  // An attempt in flight that takes no place in the backend's queue is followed by one that does.
  if (claim.acquire.in_flight() && !claim.acquire.request.queues) claim.acquire.want_another();
  waiters_.started(*heir);
  wake(*heir);  // from here on its thread drives
  if (asks_anew) return retry_now(claim);
  set_alarm(*heir);
}

// --- other processes ---
//
// A release asks whether other processes wait; the calls of this process then let them go first.
// Not for FAIR, whose queue the backend keeps.

// With a process queue only those outside of it matter. The release then asks even if no call waits
// here: a call that comes before the reply lets them go first, too.
void Coordinator::ask_for_others(const RemoteHold& hold) {
  const bool one_waits = waiters_.next_to_start() != nullptr;
  const bool asks = is_raced_for(hold.type) && hold.presence == Presence::possible &&
                    settings().pushes && settings().cohort.count() > 0 &&
                    now() >= yielding_.alone_until &&
                    (settings().grants ? now() < yielding_.others_until : one_waits);
  if (asks) yielding_.stage = Yielding::Stage::asking;
}

// The subscription of this process is among those that were notified, unless it is in line.
void Coordinator::note_others(const RemoteHold& hold, const Outcome& outcome) {
  if (!is_raced_for(hold.type)) return;
  yielding_.round_trip = now() - hold.release.request.sent;
  const Subscription::Stage own = subscription_.stage;
  const bool subscribed =
      (own == Subscription::Stage::on || own == Subscription::Stage::subscribing) &&
      !subscription_.request.in_line;
  const bool others = settings().cohort.count() > 0 && outcome.notified > (subscribed ? 1U : 0U);
  if (others) {
    note_others_notified();
    yielding_.stage = Yielding::Stage::yielding;
    yielding_.until = later(now(), time_to_take(yielding_.round_trip));
    return;
  }
  if (yielding_.stage == Yielding::Stage::asking) yielding_.stage = Yielding::Stage::off;
  yielding_.alone_until = later(now(), settings().cohort);
}

void Coordinator::note_others_notified() noexcept {
  yielding_.others_until = later(now(), remembered);
}

// A claim that also listens to the key's channel is told twice of each release, and the release may
// be granting the key to it: the grant then follows.
bool Coordinator::yields_in_line(RemoteHold& claim, bool first_in_line) {
  const bool in_line = claim.place.number != 0 && is_raced_for(claim.type) && claim.call != nullptr;
  if (!in_line || claim.place.behind_foreign || claim.acquire.in_flight()) return false;
  const bool by_key = !first_in_line && subscription_.request.in_line;
  if (by_key && claim.place.near_front_since == Clock::never()) return true;
  if (!by_key && now() >= yielding_.others_until) return false;
  if (claim.place.yielded == claim.place.number) return now() < claim.place.yields_until;
  claim.place.yielded = claim.place.number;
  claim.place.yields_until = claim.acquire.poll_at =
      later(now(), time_to_take(yielding_.round_trip));
  set_alarm(*claim.call);
  return true;
}

void Coordinator::note_foreign_holder() noexcept {
  yielding_.foreign_until = yielding_.others_until = later(now(), remembered);
}

bool Coordinator::yields(const Call& call) noexcept {
  if (yielding_.stage == Yielding::Stage::off) return false;
  return call.type != LockType::FAIR && !call.makes_one_attempt() && yielding_.is_on(now());
}

// The claim counts as busy: others have the key, or are about to.
void Coordinator::postpone_for_others(RemoteHold& claim) {
  Call& call = *claim.call;
  call.last_reply = LastReply::busy;
  claim.acquire.poll_at = yielding_.until;
  report_waiting(call);
  // With a process queue, do not subscribe: the server would count us as a foreign waiter.
  const bool listens = settings().pushes && !settings().grants;
  if (listens && subscription_.stage == Subscription::Stage::off) {
    subscribe(subscription_, nullptr);
  }
  set_alarm(call);
}

}  // namespace latchkey::inline v1::detail
