// The queue of one lock: acquire, grants, and the watches that end a wait.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <span>
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
  const bool by_its_type =
      request.type == LockType::FAIR || kind_of(request.type) != KeyKind::plain;
  return request.queues || (by_its_type && request.queue_wait.count() > 0);
}

// A place that the type takes ends with the lease: for so long its owner repeats a release that had
// no reply.
milliseconds stay_of(const Request& request) noexcept {
  if (request.type == LockType::FAIR) return request.queue_wait;
  return request.queues ? queued_stay : request.lease;
}

void name_holder(Outcome& outcome, const KeyValue* holder) {
  if (holder == nullptr) return;
  HolderName name = holder_of(*holder);
  outcome.holder_is_foreign = name.foreign;
  if (!name.foreign) outcome.holder = std::move(name.text);
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

// Puts the key if there is none, and an attempt that takes no place only if nobody excludes it.
// What is read of the queue was there before the key.
void LockQueue::enter(Place& place) {
  const Request& request = *current_.request;
  place.sink = current_.sink;
  place.type = request.type;
  place.key = key_of(kind_of(request.type), directory_, place.session->lease);
  place.key_of = Place::KeyOf::its_type;
  place.lease = request.lease;
  place.tokens = request.tokens;
  place.fenced = request.wants_token();
  place.queues = request.queues;
  place.stage = Stage::unsettled;
  const Range first{
      .key = directory_, .end = directory_end_, .order = Range::Order::first_created, .limit = 1};
  const bool queues = takes_place(request);
  Transaction transaction;
  transaction.if_created(place.key, 0);
  if (queues) transaction.then_range(first);
  for (const KeyRange& range : excluding(kind_of(request.type), directory_)) {
    if (!queues) {
      transaction.if_none_after(0, range.begin, range.end);
      continue;
    }
    transaction.then_range({.key = range.begin,
                            .end = range.end,
                            .order = Range::Order::last_created,
                            .limit = 1,
                            .keys_only = true});
  }
  transaction.then_put(place.key, value_of(request), place.session->lease);
  transaction.else_range({.key = place.key, .keys_only = true}).else_range(first);
  transact(place, transaction.encode(), later(request.sent, request.lease), {},
           [this, &place, queues](CallEnd&& end, Assurance assurance) {
             if (!end.ok() || assurance != Assurance::given) {
               return fail_acquire(place, end, assurance);
             }
             on_entered(place, decode_transaction(end.reply), queues);
           });
}

// The key may be there already, made by an acquire whose reply was lost.
void LockQueue::on_entered(Place& place, const TransactionReply& reply, bool queues) {
  const KeyValue* const own = reply.succeeded ? nullptr : reply.first_of(0);
  if (own != nullptr) {
    if (own->lease != place.session->lease) {  // not this place's: it must not be deleted
      context_.sessions.retire(*place.session);
      remove(place);
      return done(unknown_because(malformed));
    }
    if (!is_revision(own->create_revision)) return done(unknown_because(malformed));
    place.revision = own->create_revision;
    return check_again(place);
  }
  if (!reply.succeeded) {
    if (queues) return done(unknown_because(malformed));
    Outcome outcome;
    outcome.kind = Outcome::Kind::busy;
    name_holder(outcome, reply.first_of(1));
    remove(place);
    return done(std::move(outcome));
  }
  const std::size_t read = queues ? 1 + excluding(kind_of(place.type), directory_).size() : 0;
  if (!is_revision(reply.revision) || reply.ranges.size() < read) {
    return done(unknown_because(malformed));
  }
  place.revision = reply.revision;
  if (!queues) return grant(place);
  const KeyValue* const predecessor = last_created(std::span(reply.ranges).subspan(1));
  predecessor == nullptr ? grant(place)
                         : wait(place, predecessor, reply.revision, reply.first_of(0));
}

// Handles the repeated acquire of a holder, or of a place in the queue.
void LockQueue::check_again(Place& place) {
  const Request& request = *current_.request;
  place.lease = request.lease;
  place.sink = current_.sink;
  place.queues = request.queues;
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
             const KeyValue* const predecessor = last_created(reply.ranges);
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
  name_holder(outcome, holder);
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

}  // namespace latchkey::inline v1::detail::etcd
