// The queue of one lock: subscriptions, and the key that shows others that this process waits.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <utility>

#include "stores/etcd/lock_queue.hpp"

namespace latchkey::inline v1::detail::etcd {

bool LockQueue::is_subscribed(const Place& place) const noexcept {
  return std::ranges::any_of(subscriptions_, [&](const Subscription& one) {
    if (one.to == Subscription::To::turn) return one.id == place.id;
    return one.to == Subscription::To::grants && place.queues && one.id.space == place.id.space;
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
