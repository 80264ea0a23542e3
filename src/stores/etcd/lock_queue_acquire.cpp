// The queue of one lock: acquire, grants, and the watches that end a wait.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <utility>

#include "stores/etcd/lock_queue.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

using std::chrono::milliseconds;
using Stage = Place::Stage;
using Assurance = Sessions::Assurance;

/// How long a place of a process stays unless the acquire is repeated.
constexpr milliseconds queued_stay = std::chrono::seconds(10);

constexpr const char* malformed = "malformed reply to a transaction";

bool takes_place(const Request& request) noexcept {
  return request.type == LockType::FAIR ? request.queue_wait.count() > 0 : request.queues;
}

milliseconds stay_of(const Request& request) noexcept {
  return request.type == LockType::FAIR ? request.queue_wait : queued_stay;
}

std::string value_of(const Request& request) {
  std::string value = request.id.text();
  if (!request.note.empty()) value.append(" ").append(request.note);
  return value;
}

const KeyValue* front_of(const TransactionReply& reply, std::size_t range) noexcept {
  const bool any = range < reply.ranges.size() && !reply.ranges[range].found.empty();
  return any ? &reply.ranges[range].found.front() : nullptr;
}

}  // namespace

void LockQueue::acquire() {
  if (Place* const place = find(current_.request->id)) {
    return place->revision != 0 && place->stage != Stage::over ? check_again(*place)
                                                               : enter(*place);
  }
  const auto unused = [this](const Session& session) {
    return std::ranges::find(places_, &session, &Place::session) == places_.end();
  };
  context_.sessions.obtain(unused, [this](Session* session, CallEnd&& end) {
    if (session != nullptr) return enter(add_place(*session));
    Outcome outcome = outcome_of(end, directory_);
    outcome.never_ran = true;
    done(std::move(outcome));
  });
}

// An attempt that takes no place puts its key only if there is none.
void LockQueue::enter(Place& place) {
  const Request& request = *current_.request;
  place.sink = current_.sink;
  place.type = request.type;
  place.lease = request.lease;
  place.tokens = request.tokens;
  place.fenced = request.wants_token();
  place.stage = Stage::unsettled;
  const Range first{
      .key = directory_, .end = directory_end_, .order = Range::Order::first_created, .limit = 1};
  const bool queues = takes_place(request);
  Transaction transaction =
      queues ? Transaction(place.key, {}, 0) : Transaction(directory_, directory_end_, 0);
  transaction.then_put(place.key, value_of(request), place.session->lease);
  if (queues) {
    transaction.then_range(first);
    transaction.then_range({.key = directory_,
                            .end = directory_end_,
                            .order = Range::Order::last_created,
                            .limit = 2,
                            .keys_only = true});
    transaction.else_range(first).else_range({.key = place.key, .keys_only = true});
  } else {
    transaction.else_range(first);
  }
  transact(place, transaction.encode(), later(request.sent, request.lease), {},
           [this, &place, queues](CallEnd&& end, Assurance assurance) {
             if (!end.ok() || assurance != Assurance::given) {
               return fail_acquire(place, end, assurance);
             }
             TransactionReply reply = decode_transaction(end.reply);
             queues ? on_entered(place, std::move(reply)) : on_tried(place, std::move(reply));
           });
}

// The first key may be this place's own, made by an acquire whose reply was lost.
void LockQueue::on_tried(Place& place, TransactionReply&& reply) {
  const KeyValue* const first = front_of(reply, 0);
  if (reply.succeeded || (first != nullptr && first->key == place.key)) {
    const std::int64_t revision = reply.succeeded ? reply.revision : first->create_revision;
    if (!is_revision(revision)) return done(unknown_because(malformed));
    place.revision = revision;
    return grant(place);
  }
  Outcome outcome;
  outcome.kind = Outcome::Kind::busy;
  if (first != nullptr) {
    HolderName holder = holder_of(*first);
    outcome.holder_is_foreign = holder.foreign;
    if (!holder.foreign) outcome.holder = std::move(holder.text);
  }
  remove(place);
  done(std::move(outcome));
}

void LockQueue::on_entered(Place& place, TransactionReply&& reply) {
  const KeyValue* const first = front_of(reply, 0);
  const KeyValue* const own = front_of(reply, 1);
  if (first == nullptr || own == nullptr) return done(unknown_because(malformed));
  const std::int64_t revision = reply.succeeded ? reply.revision : own->create_revision;
  if (!is_revision(revision)) return done(unknown_because(malformed));
  place.revision = revision;
  if (first->key == place.key) return grant(place);
  if (!reply.succeeded) return check_again(place);
  wait(place, &reply.ranges[1].found.back(), reply.revision, first);
}

// Handles the repeated acquire of a holder, or of a place in the queue.
void LockQueue::check_again(Place& place) {
  const Request& request = *current_.request;
  place.lease = request.lease;
  place.sink = current_.sink;
  transact(place, check(place), later(request.sent, request.lease), {},
           [this, &place](CallEnd&& end, Assurance assurance) {
             if (!end.ok() || assurance != Assurance::given) {
               return fail_acquire(place, end, assurance);
             }
             const TransactionReply reply = decode_transaction(end.reply);
             if (!reply.succeeded) {  // somebody has deleted the key
               stop_watching(place);
               place.revision = 0;
               return enter(place);
             }
             const KeyValue* const predecessor = front_of(reply, 0);
             predecessor == nullptr ? grant(place)
                                    : wait(place, predecessor, reply.revision, nullptr);
           });
}

void LockQueue::grant(Place& place) {
  stop_watching(place);
  place.stage = Stage::held;
  place.first = false;
  set_end(place, later(context_.clock.now(), place.lease));
  Outcome outcome;
  outcome.kind = Outcome::Kind::granted;
  outcome.token = place.token();
  done(std::move(outcome));
}

// FAIR counts replies, the other types count places: both by etcd's revisions.
void LockQueue::wait(Place& place, const KeyValue* predecessor, std::int64_t revision,
                     const KeyValue* holder) {
  place.stage = Stage::waiting;
  set_end(place, later(context_.clock.now(), stay_of(*current_.request)));
  if (place.watch == 0) watch_predecessor(place, predecessor->key, revision);
  Outcome outcome;
  outcome.kind = Outcome::Kind::busy;
  const bool fair = place.type == LockType::FAIR;
  outcome.place = static_cast<std::uint64_t>(fair ? revision : place.revision);
  if (holder != nullptr) {
    HolderName name = holder_of(*holder);
    outcome.holder_is_foreign = name.foreign;
    if (!name.foreign) outcome.holder = std::move(name.text);
  }
  done(std::move(outcome));
}

// A lease that etcd no longer has: nothing ran, and another session serves.
void LockQueue::fail_acquire(Place& place, const CallEnd& end, Assurance assurance) {
  Session& session = *place.session;
  const bool no_lease = end.status == GrpcStatus::not_found;
  if (no_lease || (assurance == Assurance::lost)) {
    context_.sessions.lose(session);
    if (find(current_.request->id) != nullptr) remove(place);
    if (no_lease && context_.link.is_up() && ++sessions_tried_ <= 2) return acquire();
    CallEnd ended;
    ended.status = GrpcStatus::unavailable;
    ended.text = "the session ended";
    return done(outcome_of(ended, directory_));
  }
  Outcome outcome = outcome_of(end, directory_);
  if (end.ok()) outcome.reason = "no answer to the session's keep-alive";
  const bool settled = outcome.never_ran || outcome.kind == Outcome::Kind::refused;
  if (!settled) {
    context_.sessions.retire(session);
    if (place.revision == 0) place.stage = Stage::unsettled;
    set_end(place, later(context_.clock.now(), std::max(place.lease, queued_stay)));
  } else if (place.revision == 0) {
    remove(place);
  }
  done(std::move(outcome));
}

// The watch begins now: etcd serves one that begins in the past only every 100 ms. If something was
// written since `revision`, at which the predecessor was seen, the queue is looked at once more.
void LockQueue::watch_predecessor(Place& place, const std::string& key, std::int64_t revision) {
  if (place.watch != 0 && place.watched == key) return;
  stop_watching(place);
  place.first = false;
  place.watched = key;
  const HoldId id = place.id;
  place.watch = context_.watches.start(
      Watches::Purpose::wait, key, {}, 0, [this, id, revision](const WatchReply& reply) {
        Place* const waiting = find(id);
        if (waiting == nullptr) return;
        const bool deleted = !reply.deleted.empty();
        if (deleted || reply.cancelled) stop_watching(*waiting);
        if (reply.cancelled) return try_again_later();
        const bool missed = reply.created && reply.revision != revision;
        if (!missed && !deleted) return;
        if (deleted) waiting->first = true;
        push(Task::promote, id);
        run();
      });
}

void LockQueue::stop_watching(Place& place) noexcept {
  if (place.watch != 0) context_.watches.cancel(std::exchange(place.watch, 0));
}

// etcd ends a watch that begins with a revision that it has compacted away. The waiters are then
// notified, and the next watch begins when it is made.
void LockQueue::watch_releases(std::int64_t begin, bool completes) {
  stop_watching_releases();
  watches_releases_ = false;
  releases_watch_ = context_.watches.start(
      Watches::Purpose::wait, directory_, directory_end_, begin,
      [this, completes](const WatchReply& reply) { on_releases(reply, completes); });
}

// A watch that is made again on the next connection may have missed something.
void LockQueue::on_releases(const WatchReply& reply, bool completes) {
  using To = Subscription::To;
  const bool is_first = !watches_releases_;
  if (reply.created) watches_releases_ = true;
  if (!reply.deleted.empty() || reply.cancelled || (reply.created && !is_first)) {
    for (const Subscription& one : subscriptions_) {
      if (one.to != To::releases) continue;
      context_.outbox.notify(*one.sink, Notification::Kind::released, name_);
    }
  }
  if (reply.cancelled) {
    stop_watching_releases();
    try_again_later();
  }
  if (!completes || !is_first) return;
  if (reply.created) return done(Outcome::Kind::granted);
  CallEnd lost;
  lost.text = "etcd has not confirmed the watch";
  fail_subscription(lost);
}

void LockQueue::resume_watches() {
  for (const Place& place : places_) {
    if (place.stage == Place::Stage::waiting && place.watch == 0) push(Task::promote, place.id);
  }
  if (has_subscription(Subscription::To::releases) && releases_watch_ == 0) {
    watch_releases(0, false);
  }
}

}  // namespace latchkey::inline v1::detail::etcd
