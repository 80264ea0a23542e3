// The queue of one lock: holds, their ends, and grants without a request.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <utility>

#include "stores/etcd/lock_queue.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

using std::chrono::milliseconds;
using Stage = Place::Stage;
using Assurance = Sessions::Assurance;

/// When the deletion of a key that failed is repeated.
constexpr milliseconds repeat_pause = std::chrono::seconds(1);

}  // namespace

// A renewal and a downgrade prove that the session lasts as long as the lease; verify changes
// nothing, except that it may complete a downgrade.
void LockQueue::check_hold() {
  const Request& request = *current_.request;
  Place* const place = find(request.id);
  if (place == nullptr || place->stage != Stage::held) return done(Outcome::Kind::gone);
  const bool renews = request.verb != Verb::verify;
  if (request.verb == Verb::downgrade) become_reader(*place);
  const bool replaces = place->key_of != Place::KeyOf::its_type;
  if (replaces) stop_watching(*place);  // its key may be deleted now
  const Clock::time_point until = renews ? later(request.sent, request.lease) : Clock::time_point{};
  transact(*place, replaces ? replacement(*place) : check(*place), until, {},
           [this, place, renews, replaces](CallEnd&& end, Assurance assurance) {
             if (assurance == Assurance::lost) {
               if (current_place_ != nullptr) remove(*place);
               return done(Outcome::Kind::gone);
             }
             if (!end.ok()) {
               Outcome outcome = outcome_of(end, directory_);
               const bool ran = outcome.kind == Outcome::Kind::unknown && !outcome.never_ran;
               if (replaces && ran) doubt_key(*place);
               return done(std::move(outcome));
             }
             const TransactionReply reply = decode_transaction(end.reply);
             if (!(replaces ? on_replacement(*place, reply) : reply.succeeded)) {
               remove(*place);
               return done(Outcome::Kind::gone);
             }
             if (assurance == Assurance::unknown) {
               return done(unknown_because("etcd has not confirmed that the session lasts"));
             }
             const Clock::time_point ends = later(context_.clock.now(), current_.request->lease);
             if (renews) set_end(*place, std::max(place->ends, ends));
             if (current_.request->watch) watch_hold(*place, reply.revision);
             done(Outcome::Kind::granted);
           });
}

// Its key stays at first: the next check replaces it.
void LockQueue::become_reader(Place& place) {
  if (place.type != LockType::WRITE) return;
  place.type = LockType::READ;
  place.fenced = false;
  place.key_of = Place::KeyOf::writer;
}

// A reader's key that is made now is behind everybody who waits. Whoever the reader excludes would
// be granted the lock then, so the key is replaced only if there is no such key; it is nobody's
// loss if there is one, because a reader that comes now waits for that one.
std::string LockQueue::replacement(const Place& place) const {
  const std::string reader = key_of(KeyKind::read, directory_, place.session->lease);
  Transaction transaction;
  transaction.if_created(place.key, place.revision);
  for (const KeyRange& range : excluding(KeyKind::read, directory_)) {
    transaction.if_none_after(place.revision, range.begin, range.end);
  }
  transaction.then_delete(place.key);
  transaction.then_put(reader, value_of(*current_.request), place.session->lease);
  transaction.else_range({.key = place.key, .keys_only = true});
  transaction.else_range({.key = reader, .keys_only = true});
  return transaction.encode();
}

// False: the hold has no key any more. A key that may have been replaced stays in doubt as long as
// it is there, because the attempt may still run.
bool LockQueue::on_replacement(Place& place, const TransactionReply& reply) {
  const KeyValue* const writer = reply.succeeded ? nullptr : reply.first_of(0);
  if (writer != nullptr && writer->create_revision == place.revision) return true;
  const KeyValue* const reader = reply.first_of(1);
  const bool replaced = reader != nullptr && reader->lease == place.session->lease;
  const std::int64_t revision = reply.succeeded ? reply.revision
                                : replaced      ? reader->create_revision
                                                : 0;
  if (!is_revision(revision)) return false;
  place.key = key_of(KeyKind::read, directory_, place.session->lease);
  place.key_of = Place::KeyOf::its_type;
  place.revision = revision;
  return true;
}

// The session takes no new keys, so both names stay this place's own.
void LockQueue::doubt_key(Place& place) noexcept {
  place.key_of = Place::KeyOf::either;
  if (place.session->stage == Session::Stage::alive) context_.sessions.retire(*place.session);
}

// The watch begins after the revision at which the check has found the key, so it misses no
// deletion.
void LockQueue::watch_hold(Place& place, std::int64_t revision) {
  const bool can_start = context_.watches_holds && place.stage == Stage::held;
  if (!can_start || place.watch != 0 || !is_revision(revision)) return;
  place.watch_created = false;
  place.watch = context_.watches.start(Watches::Purpose::hold, place.key, {}, revision + 1,
                                       [this, id = place.id, revision](const WatchReply& reply) {
                                         Place* const held = find(id);
                                         if (held != nullptr) on_hold_watch(*held, revision, reply);
                                       });
}

// A watch that is made again on the next stream may have missed the deletion, if something was
// written since. After one that etcd has ended, the next check starts another.
void LockQueue::on_hold_watch(Place& place, std::int64_t revision, const WatchReply& reply) {
  const bool was_created = std::exchange(place.watch_created, true);
  const bool missed = was_created && reply.created && reply.revision != revision;
  const bool changed = !reply.deleted.empty() || missed || (was_created && reply.cancelled);
  if (changed || reply.cancelled) stop_watching(place);
  if (changed) context_.outbox.notify(*place.sink, Notification::Kind::changed, name_);
}

// The key is named after the session, so a later place may have it again. A deletion that arrives
// late must not end that one, so it compares the revision. Without one, or in doubt, there is no
// later one: the session takes no new keys, or has ended.
void LockQueue::delete_key(const Place& place, OnDeleted on_deleted) {
  const bool in_doubt = place.key_of == Place::KeyOf::either;
  const bool compares = place.revision != 0 && !in_doubt;
  Transaction transaction;
  if (compares) transaction.if_created(place.key, place.revision);
  transaction.then_delete(place.key);
  if (in_doubt) {
    transaction.then_delete(key_of(KeyKind::read, directory_, place.session->lease));
  }
  context_.link.call(Method::txn, transaction.encode(),
                     [compares, on_deleted = std::move(on_deleted)](CallEnd&& end) {
                       if (!end.ok()) return on_deleted(std::move(end), false);
                       const TransactionReply reply = decode_transaction(end.reply);
                       on_deleted(std::move(end), compares ? reply.succeeded : reply.deleted);
                     });
}

void LockQueue::end_hold() {
  Place* const place = find(current_.request->id);
  if (place == nullptr) {
    if (current_.request->verb == Verb::release) return end_hold_of_another();
    return done(Outcome::Kind::gone);
  }
  stop_watching(*place);
  current_place_ = place;
  const bool was_over = place->stage == Stage::over;
  place->stage = Stage::over;
  delete_key(*place, [this, place, was_over](CallEnd&& end, bool existed) {
    if (!end.ok()) {
      set_end(*place, later(context_.clock.now(), repeat_pause));
      return done(outcome_of(end, directory_));
    }
    remove(*place);
    done(existed && !was_over ? Outcome::Kind::granted : Outcome::Kind::gone);
  });
}

// The hold of another process, named by an administrator, or one that this process has forgotten.
void LockQueue::end_hold_of_another() {
  const std::string request = encode_range({.key = directory_, .end = directory_end_});
  context_.link.call(Method::range, request, [this](CallEnd&& end) {
    if (!end.ok()) return done(outcome_of(end, directory_));
    const std::string id = current_.request->id.text();
    const RangeReply reply = decode_range(end.reply);
    const auto found = std::ranges::find_if(reply.found, [&](const KeyValue& key) {
      return holder_of(key).text == id && !is_of_another_lock(key, directory_);
    });
    if (found == reply.found.end()) return done(Outcome::Kind::gone);
    Transaction transaction;
    transaction.if_created(found->key, found->create_revision).then_delete(found->key);
    context_.link.call(Method::txn, transaction.encode(), [this](CallEnd&& deleted) {
      if (!deleted.ok()) return done(outcome_of(deleted, directory_));
      const bool existed = decode_transaction(deleted.reply).succeeded;
      done(existed ? Outcome::Kind::granted : Outcome::Kind::gone);
    });
  });
}

// After the wait, the own key and its lease are looked at again before the lock counts as held
// (etcd issue 11456): the session may have ended meanwhile.
void LockQueue::promote() {
  Place* const place = find(current_.id);
  if (place == nullptr || place->stage != Stage::waiting) return done(Outcome::Kind::gone);
  const bool awaits = awaits_grant(*place);
  if (place->first && awaits && !is_subscribed(*place)) return done(Outcome::Kind::busy);
  const Clock::time_point now = context_.clock.now();
  transact(*place, check(*place), later(now, place->lease), now,
           [this, place](CallEnd&& end, Assurance assurance) {
             if (assurance == Assurance::lost) {
               if (current_place_ != nullptr) remove(*place);
             } else if (end.ok() && assurance == Assurance::given) {
               on_promoted(*place, decode_transaction(end.reply));
             }
             done(Outcome::Kind::granted);
           });
}

void LockQueue::on_promoted(Place& place, TransactionReply&& reply) {
  if (!reply.succeeded) {  // somebody has deleted it: the waiter tries again
    context_.outbox.notify(*place.sink, Notification::Kind::released, name_, place.id);
    return remove(place);
  }
  const KeyValue* const predecessor = last_created(reply.ranges);
  if (predecessor != nullptr) return watch_predecessor(place, predecessor->key, reply.revision);
  stop_watching(place);
  place.first = true;
  if (!awaits_grant(place)) {
    return context_.outbox.notify(*place.sink, Notification::Kind::released, name_, place.id);
  }
  if (!is_subscribed(place)) return;
  const bool fair = place.type == LockType::FAIR;
  const auto lease = std::min<milliseconds>(place.lease, fair ? fair_grant_lease : grant_lease);
  place.stage = Stage::held;
  place.first = false;
  set_end(place, later(context_.clock.now(), lease));
  const std::int64_t number = fair ? reply.revision : place.revision;
  context_.outbox.notify_granted(*place.sink, name_, place.id, static_cast<std::uint64_t>(number),
                                 place.token());
}

// The lease of a hold, or the stay of a place, is over, or a deletion is repeated.
void LockQueue::expire() {
  Place* const place = find(current_.id);
  const Clock::time_point now = context_.clock.now();
  if (place == nullptr || (place->stage != Stage::over && place->ends > now)) {
    return done(Outcome::Kind::gone);
  }
  stop_watching(*place);
  place->stage = Stage::over;
  current_place_ = place;
  delete_key(*place, [this, place](CallEnd&& end, bool /*existed*/) {
    if (end.ok()) {
      remove(*place);
    } else {
      set_end(*place, later(context_.clock.now(), repeat_pause));
    }
    done(Outcome::Kind::granted);
  });
}

}  // namespace latchkey::inline v1::detail::etcd
