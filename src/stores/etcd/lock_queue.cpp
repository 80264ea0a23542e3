// The queue of one lock: operations and places.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/lock_queue.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v1::detail::etcd {

using Stage = Place::Stage;

std::string marker_directory(const std::string& prefix) { return prefix + "latchkey.waiting/"; }

LockQueue::LockQueue(RecipeContext& context, std::string name)
    : context_(context),
      name_(std::move(name)),
      directory_(context.prefix + name_ + '/'),
      directory_end_(end_of_prefix(directory_)) {}

LockQueue::~LockQueue() {
  for (Place& place : places_) stop_watching(place);
  stop_watching_releases();
}

bool LockQueue::idle() const noexcept {
  return !busy_ && operations_.empty() && places_.empty() && subscriptions_.empty() &&
         marker_.empty() && retry_timer_ == context_.timers.end();
}

void LockQueue::submit(Request& request, Sink& sink) {
  operations_.push_back({Task::request, &request, &sink, request.id});
  run();
}

void LockQueue::push(Task task, const HoldId& id) {
  operations_.push_back({task, nullptr, nullptr, id});
}

void LockQueue::run() {
  if (std::exchange(running_, true)) return;
  while (!busy_ && !operations_.empty() && context_.link.is_up()) {
    current_ = operations_.front();
    operations_.pop_front();
    busy_ = true;
    start();
  }
  running_ = false;
  if (idle()) context_.idle.push_back(name_);
}

void LockQueue::start() {
  sessions_tried_ = 0;
  switch (current_.task) {
    case Task::request: return start_request();
    case Task::promote: return promote();
    case Task::expire: return expire();
    case Task::unmark: return unmark();
  }
}

void LockQueue::start_request() {
  switch (current_.request->verb) {
    case Verb::acquire: return acquire();
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade: return check_hold();
    case Verb::release:
    case Verb::leave: return end_hold();
    case Verb::subscribe: return subscribe();
    case Verb::unsubscribe: return unsubscribe();
    case Verb::acquire_all:
    case Verb::expire:
    case Verb::inspect:
    case Verb::list:
    case Verb::force_release:
    case Verb::resize:
    case Verb::revoke:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: break;
  }
  Outcome outcome;
  outcome.kind = Outcome::Kind::refused;
  outcome.reason = "etcd does not offer " + std::string(to_string(current_.request->verb));
  done(std::move(outcome));
}

void LockQueue::done(Outcome&& outcome) {
  if (current_.request != nullptr) {
    context_.outbox.complete(*current_.request, *current_.sink, std::move(outcome));
  }
  current_ = {};
  current_place_ = nullptr;
  busy_ = false;
  run();
}

void LockQueue::done(Outcome::Kind kind) {
  Outcome outcome;
  outcome.kind = kind;
  done(std::move(outcome));
}

Place* LockQueue::find(const HoldId& id) noexcept {
  const auto found = std::ranges::find(places_, id, &Place::id);
  return found == places_.end() ? nullptr : &*found;
}

Place& LockQueue::add_place(Session& session) {
  Place& place = places_.emplace_back();
  place.timer = context_.timers.end();
  place.id = current_.request->id;
  place.session = &session;
  ++session.keys;
  return place;
}

void LockQueue::remove(Place& place) {
  if (&place == current_place_) current_place_ = nullptr;
  stop_watching(place);
  set_end(place, Clock::never());
  context_.sessions.release(*place.session);
  places_.remove_if([&](const Place& one) { return &one == &place; });
}

void LockQueue::set_end(Place& place, Clock::time_point ends) {
  place.ends = ends;
  if (place.timer != context_.timers.end()) context_.timers.erase(place.timer);
  place.timer = context_.timers.end();
  if (ends == Clock::never()) return;
  place.timer = context_.timers.emplace(ends, Expiry{this, place.id});
}

void LockQueue::on_expired(const HoldId& id) {
  // The caller has erased the timer.
  if (Place* const place = find(id)) {
    place->timer = context_.timers.end();
    push(Task::expire, id);
  } else if (id == HoldId{}) {
    retry_timer_ = context_.timers.end();
    if (has_stale_marker()) push(Task::unmark, {});
    if (context_.link.is_up()) resume_watches();
  }
  run();
}

void LockQueue::transact(Place& place, std::string transaction, Clock::time_point until,
                         Clock::time_point asked, Then then) {
  current_place_ = &place;
  pending_ = {2, {}, Sessions::Assurance::given, std::move(then)};
  const auto join = [this] {
    if (--pending_.parts > 0) return;
    const Then next = std::move(pending_.then);
    next(std::move(pending_.end), pending_.assurance);
  };
  context_.link.call(Method::txn, transaction, [this, join](CallEnd&& end) {
    pending_.end = std::move(end);
    join();
  });
  context_.sessions.assure(*place.session, until, asked, [this, join](Sessions::Assurance result) {
    pending_.assurance = result;
    join();
  });
}

std::string LockQueue::check(const Place& place) const {
  Transaction transaction;
  transaction.if_created(place.key, place.revision);
  for (const KeyRange& range : excluding(kind_of(place.type), directory_)) {
    transaction.then_range({.key = range.begin,
                            .end = range.end,
                            .order = Range::Order::last_created,
                            .limit = 1,
                            .max_create_revision = place.revision - 1,
                            .keys_only = true});
  }
  return transaction.encode();
}

// All keys of the session are gone. Who waits enters the queue again; what an operation works on is
// removed by its end.
void LockQueue::on_session_lost(const Session& session) {
  using Kind = Notification::Kind;
  if (session.has(marker_)) marker_.clear();
  for (auto next = places_.begin(); next != places_.end();) {
    Place& place = *next++;
    if (place.session != &session) continue;
    const bool told = place.stage == Stage::held || place.stage == Stage::waiting;
    const Kind kind = place.stage == Stage::held ? Kind::gone : Kind::released;
    if (told) context_.outbox.notify(*place.sink, kind, name_, place.id);
    place.stage = Stage::over;
    place.revision = 0;
    if (&place != current_place_) remove(place);
  }
  if (idle()) context_.idle.push_back(name_);
}

// Down: what was not started will not be, and holds are watched anew after their next check. Up:
// what may have changed meanwhile is looked at.
void LockQueue::on_link(bool up) {
  if (!up) {
    for (Place& place : places_) {
      if (place.stage == Stage::held) stop_watching(place);
    }
    for (Operation& one : std::exchange(operations_, {})) {
      if (one.request == nullptr) continue;
      const ConnectionFailure* const failure = context_.link.failure();
      const std::string why = failure == nullptr ? "the connection was lost" : failure->text;
      context_.outbox.complete_unknown(*one.request, *one.sink, why, true);
    }
    return;
  }
  for (const Place& place : places_) {
    const bool over = place.stage == Stage::over || place.ends <= context_.clock.now();
    if (over) push(Task::expire, place.id);
  }
  resume_watches();
  if (has_stale_marker()) push(Task::unmark, {});
  run();
}

// Memory was missing in the middle of an operation. The key of an acquire without a reply may still
// be made: its session serves no other place, and ends when the place has ended. A subscription
// without an outcome is made again.
void LockQueue::start_over(Clock::time_point now) noexcept {
  if (current_.request != nullptr && current_.request->verb == Verb::subscribe) {
    context_.sessions.retire_of(marker_);
    const Subscription::To to = subscribes_to(*current_.request);
    std::erase_if(subscriptions_, [this, to](const Subscription& one) {
      return one.to == to && one.sink == current_.sink && one.id == current_.id;
    });
  }
  for (Place& place : places_) {
    place.watch = 0;
    place.watched.clear();
    if (place.key_of == Place::KeyOf::writer) doubt_key(place);
    if (place.stage != Stage::unsettled) continue;
    context_.sessions.retire(*place.session);
    place.ends = std::max(now, place.ends == Clock::never() ? later(now, place.lease) : place.ends);
  }
  releases_watch_ = 0;
  operations_.clear();
  current_ = {};
  current_place_ = nullptr;
  busy_ = running_ = false;
  pending_ = {};
}

void LockQueue::restore_timers() {
  for (Place& place : places_) {
    if (place.timer == context_.timers.end()) set_end(place, place.ends);
  }
}

}  // namespace latchkey::inline v1::detail::etcd
