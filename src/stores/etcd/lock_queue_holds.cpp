// The queue of one lock: holds, grants without a request, and subscriptions.
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

// A renewal proves that the session lasts as long as the lease; verify changes nothing.
void LockQueue::check_hold() {
  const Request& request = *current_.request;
  Place* const place = find(request.id);
  if (place == nullptr || place->stage != Stage::held) return done(Outcome::Kind::gone);
  const bool renews = request.verb == Verb::renew;
  const Clock::time_point until = renews ? later(request.sent, request.lease) : Clock::time_point{};
  transact(*place, check(*place), until, {},
           [this, place, renews](CallEnd&& end, Assurance assurance) {
             if (assurance == Assurance::lost) {
               if (current_place_ != nullptr) remove(*place);
               return done(Outcome::Kind::gone);
             }
             if (!end.ok()) return done(outcome_of(end, directory_));
             const TransactionReply reply = decode_transaction(end.reply);
             if (!reply.succeeded) {
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
// late must not end that one, so it compares the revision. Without one there is none to end: the
// session takes no new keys, or has ended.
void LockQueue::delete_key(const Place& place, OnDeleted on_deleted) {
  const bool compares = place.revision != 0;
  std::string request =
      compares ? Transaction(place.key, {}, place.revision).then_delete(place.key).encode()
               : encode_delete(place.key);
  context_.link.call(compares ? Method::txn : Method::delete_range, std::move(request),
                     [compares, on_deleted = std::move(on_deleted)](CallEnd&& end) {
                       if (!end.ok()) return on_deleted(std::move(end), false);
                       const bool existed = compares ? decode_transaction(end.reply).succeeded
                                                     : decode_deleted(end.reply) > 0;
                       on_deleted(std::move(end), existed);
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
  std::string request = encode_range({.key = directory_, .end = directory_end_});
  context_.link.call(Method::range, std::move(request), [this](CallEnd&& end) {
    if (!end.ok()) return done(outcome_of(end, directory_));
    const std::string id = current_.request->id.text();
    const RangeReply reply = decode_range(end.reply);
    const auto found = std::ranges::find_if(
        reply.found, [&](const KeyValue& key) { return holder_of(key).text == id; });
    if (found == reply.found.end()) return done(Outcome::Kind::gone);
    Transaction transaction(found->key, {}, found->create_revision);
    context_.link.call(Method::txn, transaction.then_delete(found->key).encode(),
                       [this](CallEnd&& deleted) {
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
  if (place->first && !is_subscribed(*place)) return done(Outcome::Kind::busy);
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
  const bool free = reply.ranges.empty() || reply.ranges[0].found.empty();
  if (!free) return watch_predecessor(place, reply.ranges[0].found[0].key, reply.revision);
  stop_watching(place);
  place.first = true;
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

bool LockQueue::is_subscribed(const Place& place) const noexcept {
  return std::ranges::any_of(subscriptions_, [&](const Subscription& one) {
    if (one.to == Subscription::To::turn) return one.id == place.id;
    return one.to == Subscription::To::grants && place.type != LockType::FAIR &&
           one.id.space == place.id.space;
  });
}

bool LockQueue::has_subscription(Subscription::To to) const noexcept {
  return std::ranges::find(subscriptions_, to, &Subscription::to) != subscriptions_.end();
}

// Grants are told to whoever is known here; for releases etcd is asked to tell them, and a key
// shows others that somebody waits. A caller that repeats its subscription has one.
void LockQueue::subscribe() {
  using To = Subscription::To;
  const Request& request = *current_.request;
  const To to = subscribes_to(request);
  const bool first = to == To::releases && !has_subscription(To::releases);
  const Subscription wanted{to, request.id, current_.sink};
  if (std::ranges::find(subscriptions_, wanted) == subscriptions_.end()) {
    subscriptions_.push_back(wanted);
  }
  if (!first) {
    for (const Place& place : places_) {
      if (place.first && is_subscribed(place)) push(Task::promote, place.id);
    }
    return done(Outcome::Kind::granted);
  }
  const auto any = [](const Session&) { return true; };
  context_.sessions.obtain(any, [this](Session* session, CallEnd&& failed) {
    if (session == nullptr) return fail_subscription(failed);
    std::string marker = marker_directory(context_.prefix) + name_ + '/' + session->hex;
    if (marker_.empty() || marker_ == marker) return mark(std::move(marker), session->lease);
    // That of another session, which may last, goes first: only one is known.
    delete_marker([this, marker = std::move(marker), lease = session->lease](CallEnd&& end) {
      end.ok() ? mark(marker, lease) : fail_subscription(end);
    });
  });
}

// A request without a reply may still run, after the marker was deleted: not without its session.
void LockQueue::mark(std::string marker, std::int64_t lease) {
  const bool fresh = marker_.empty();
  marker_ = std::move(marker);
  context_.link.call(Method::put, encode_put(marker_, {}, lease), [this, fresh](CallEnd&& end) {
    const std::int64_t revision = end.ok() ? decode_transaction(end.reply).revision : 0;
    if (is_revision(revision)) return watch_releases(revision + 1, true);
    if (end.ok()) {
      end.status = GrpcStatus::no_answer;
      end.text = "malformed reply to Put";
    }
    const Outcome outcome = outcome_of(end, marker_);
    const bool settled = outcome.never_ran || outcome.kind == Outcome::Kind::refused;
    if (!settled) context_.sessions.retire_of(marker_);
    if (settled && fresh) marker_.clear();
    fail_subscription(end);
  });
}

// The key may have been made.
void LockQueue::fail_subscription(const CallEnd& end) {
  std::erase_if(subscriptions_,
                [](const auto& one) { return one.to == Subscription::To::releases; });
  if (has_stale_marker()) push(Task::unmark, {});
  done(outcome_of(end, directory_));
}

void LockQueue::unsubscribe() {
  using To = Subscription::To;
  const Request& request = *current_.request;
  const To to = subscribes_to(request);
  const auto found = std::ranges::find_if(subscriptions_, [&](const Subscription& one) {
    return one.to == to && one.sink == current_.sink &&
           (to == To::releases || one.id == request.id);
  });
  if (found != subscriptions_.end()) subscriptions_.erase(found);
  to == To::releases ? unmark() : done(Outcome::Kind::granted);
}

LockQueue::Subscription::To LockQueue::subscribes_to(const Request& request) noexcept {
  using To = Subscription::To;
  if (request.type == LockType::FAIR) return To::turn;
  return request.queues ? To::grants : To::releases;
}

// As the end of a subscription, or because the key may be there although the subscription failed or
// its end had no reply. The watch may outlast the marker, whose session has ended.
void LockQueue::unmark() {
  if (has_subscription(Subscription::To::releases)) return done(Outcome::Kind::granted);
  stop_watching_releases();
  if (marker_.empty()) return done(Outcome::Kind::granted);
  delete_marker([this](CallEnd&& end) {
    end.ok() ? done(Outcome::Kind::granted) : done(outcome_of(end, directory_));
  });
}

void LockQueue::delete_marker(std::function<void(CallEnd&&)> on_deleted) {
  context_.link.call(Method::delete_range, encode_delete(marker_),
                     [this, on_deleted = std::move(on_deleted)](CallEnd&& end) {
                       end.ok() ? marker_.clear() : try_again_later();
                       on_deleted(std::move(end));
                     });
}

void LockQueue::try_again_later() {
  constexpr std::chrono::seconds pause{1};
  ExpiryTimers& timers = context_.timers;
  if (retry_timer_ != timers.end()) return;
  retry_timer_ = timers.emplace(later(context_.clock.now(), pause), Expiry{this, {}});
}

}  // namespace latchkey::inline v1::detail::etcd
