// The queue of one lock: what etcd is asked to tell about it.
// SPDX-License-Identifier: BSL-1.0
#include <utility>

#include "stores/etcd/recipe/lock_queue.hpp"

namespace latchkey::inline v1::detail::etcd {

// The watch begins now: etcd serves one that begins in the past only every 100 ms. If something was
// written since `revision`, at which the predecessor was seen, the queue is looked at once more.
void LockQueue::watch_predecessor(Place& place, const std::string& key, std::int64_t revision) {
  if (place.watch != 0 && place.watched == key) return;
  stop_watching(place);
  place.first = false;
  place.watched = key;
  const HoldId id = place.id;
  place.watch = context_.watches.start(key, {}, 0, [this, id, revision](const WatchReply& reply) {
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
      directory_, directory_end_, begin,
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
