// Carrying out what coordinators decide.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/shard_driver.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <random>
#include <utility>

#include "core/mutex.hpp"
#include "locks/coordinator/idle_hold.hpp"
#include "locks/listener/reporter.hpp"
#include "locks/space/leak_intentionally.hpp"

namespace latchkey::inline v1::detail {

void ShardDriver::start(LockSpace& space, const CoordinatorSettings& settings) {
  std::mt19937_64 seeds(std::random_device{}());
  for (std::size_t index = 0; index < shard_count; ++index) {
    Shard& shard = shards_[index];
    const ScopedLock lock(shard.mutex);
    shard.context = CoordinatorContext(settings, index + 1, seeds());
    shard.context.space = &space;
  }
}

void ShardDriver::drop_all() noexcept {
  for (Shard& shard : shards_) {
    const ScopedLock lock(shard.mutex);
    shard.table.for_each([](Coordinator& each) { each.drop(); });
  }
}

void ShardDriver::carry_out(ShardLock& lock, Coordinator& home, EventContext& context) {
  Actions& actions = context.out;
  if (!actions.submits.empty()) submit(home, context);
  for (Call* const call : actions.wakes) wake(*call, lock);
  lock.notify_after_unlock(std::move(actions.completed));
  if (actions.effects != nullptr) {
    for (Event& event : actions.effects->events) to_.reporter.post(std::move(event));
    for (std::stop_source& stop : actions.effects->stops) to_.reporter.post(std::move(stop));
  }
  if (actions.unreported > 0) to_.reporter.count_unreported(actions.unreported);
}

// The backend's immediate answers go straight back to the coordinator, whose next requests join
// those that are still to be submitted.
//
// If no memory is left for a request, its outcome is unknown, although nothing was sent: the
// coordinator gives up a claim and repeats a release.
void ShardDriver::submit(Coordinator& home, EventContext& context) {
  auto& requests = context.out.submits;
  for (std::size_t index = 0; index < requests.size();) {
    std::size_t unanswered = 0;
    for (; index < requests.size(); ++index) {
      Request& request = *requests[index];
      Outcome outcome;
      if (answer(request, outcome)) {
        home.completed(request, outcome, context);
      } else {
        requests[unanswered++] = &request;
      }
    }
    requests.shorten(unanswered);
    if (unanswered == 0) return;
    try {
      to_.backend.submit({requests.data(), unanswered}, to_.sink);
      if (lends_timer_.load(std::memory_order_relaxed)) to_.due_times.wake();
      return;
    } catch (const std::bad_alloc&) {
      for (index = 0; index < unanswered; ++index) {
        Outcome outcome;
        outcome.reason = "out of memory";  // short enough to need none
        outcome.never_ran = true;
        home.completed(*requests[index], outcome, context);
      }
    }
  }
}

bool ShardDriver::out_of_memory(Outcome& outcome) noexcept {
  outcome = Outcome{};
  outcome.reason = "out of memory";
  return true;
}

HoldLimits::Number ShardDriver::limit(RemoteHold& hold, const Lease& lease) noexcept {
  if (lease.held_at_most().count() == 0) return 0;
  Coordinator& home = *hold.home;
  Shard& shard = shard_of(home.hash);
  const ShardLock lock(shard);
  const auto number = home.limit(hold, later(to_.clock.now(), lease.held_at_most()));
  schedule(shard, home);
  return number;
}

void ShardDriver::listen_for_revocation(RemoteHold& hold) noexcept {
  Coordinator& home = *hold.home;
  Shard& shard = shard_of(home.hash);
  ShardLock lock(shard);
  handle(shard, lock, home,
         [&](EventContext& context) { home.listen_for_revocation(hold, context); });
}

void ShardDriver::end_idle_hold(std::string_view key) noexcept {
  const KeyPlace place = place_of(key);
  ShardLock lock(place.shard);
  Coordinator* const home = place.shard.table.find(key, place.hash);
  if (home != nullptr) give_back(place.shard, lock, *home);
}

void ShardDriver::give_back_least_recent(Shard& shard, ShardLock& lock) {
  Coordinator* least = nullptr;
  Clock::time_point used = Clock::never();
  shard.table.for_each([&](Coordinator& each) {
    const RemoteHold* const idle = IdleHold::of(each);
    if (idle == nullptr || idle->granted_at >= used) return;
    least = &each;
    used = idle->granted_at;
  });
  if (least != nullptr) give_back(shard, lock, *least);
}

void ShardDriver::give_back(Shard& shard, ShardLock& lock, Coordinator& home) {
  handle(shard, lock, home, [&](EventContext& context) { IdleHold::end(home, context); });
}

void ShardDriver::withdraw(Shard& shard, ShardLock& lock, Coordinator& home, RemoteHold* claim) {
  handle(shard, lock, home, [&](EventContext& context) {
    if (claim != nullptr) home.withdraw(*claim, context);
  });
}

// The caller may destroy the call as soon as it sees `done`: after that only the parker is used,
// and parkers are never destroyed.
void ShardDriver::wake(Call& call, ShardLock& lock) {
  Parker* const parker = call.parker;
  call.waking = false;
  if (call.answer != Answer::pending) call.done.store(true, std::memory_order_release);
  if (parker != nullptr && parker != Parker::mine_if_any()) lock.unpark_after_unlock(*parker);
}

void ShardDriver::drive(Parker& parker, Clock::time_point until) noexcept {
  constexpr std::chrono::milliseconds moment{1};
  try {
    to_.backend.drive(parker, until);
  } catch (const std::bad_alloc&) {
    parker.park_until(to_.clock, std::min(until, later(to_.clock.now(), moment)));
  }
}

void ShardDriver::completed(Request& request, Outcome& outcome) noexcept {
  Coordinator& home = *static_cast<Coordinator*>(request.context);
  Shard& shard = shard_of(home.hash);
  ShardLock lock(shard);
  handle(shard, lock, home,
         [&](EventContext& context) { home.completed(request, outcome, context); });
}

void ShardDriver::notified(const Notification& notification) noexcept {
  if (notification.key.empty()) {
    for (Shard& shard : shards_) {
      const ScopedLock lock(shard.mutex);
      shard.context.note_link(notification);
    }
    return for_each_coordinator(
        [&](Coordinator& each, EventContext& context) { each.notified(notification, context); });
  }
  const std::size_t hash = hash_key(notification.key);
  Shard& shard = shard_of(hash);
  ShardLock lock(shard);
  Coordinator* const home = shard.table.find(notification.key, hash);
  if (home == nullptr) return;
  handle(shard, lock, *home, [&](EventContext& context) { home->notified(notification, context); });
}

// Clears the group's time first and then looks at its shards: an event that was handled in a shard
// before this has left its time in the shard, and a later one finds the group's time cleared.
void ShardDriver::tick_due(std::size_t group, Clock::time_point now) {
  constexpr std::chrono::milliseconds retry_pause{500};
  to_.due_times.clear(group);
  Clock::time_point next = Clock::never();
  const auto sort = [&](Timers& timers) {
    try {
      timers.sort();
    } catch (const std::bad_alloc&) {
      next = std::min(next, later(now, retry_pause));  // the unsorted rest waits until then
    }
  };
  for (Shard& shard : std::span(shards_).subspan(group * group_size, group_size)) {
    ShardLock lock(shard);
    for (sort(shard.timers); shard.timers.next() <= now; sort(shard.timers)) {
      Coordinator& home = *shard.timers.first();
      shard.timers.remove(home);
      Actions actions;
      EventContext context(to_.clock, actions, now);
      home.tick(context);
      perform(shard, lock, home, context);
    }
    next = std::min(next, shard.timers.next());
  }
  to_.due_times.lower(group, next);
}

void ShardDriver::refuse_calls() noexcept {
  for (Shard& shard : shards_) {
    const ScopedLock lock(shard.mutex);
    shard.context.closed = true;
  }
}

void ShardDriver::keep_idle(KeepsIdle whether) noexcept {
  for (Shard& shard : shards_) {
    const ScopedLock lock(shard.mutex);
    KeepsIdle& its = shard.context.keeps_idle;
    if (its != KeepsIdle::no_longer) its = whether;
  }
}

bool ShardDriver::any(bool (Coordinator::*question)() const) noexcept {
  bool yes = false;
  for (Shard& shard : shards_) {
    const ScopedLock lock(shard.mutex);
    shard.table.for_each([&](const Coordinator& each) { yes = yes || (each.*question)(); });
  }
  return yes;
}

void ShardDriver::lock_for_fork() noexcept {
  for (Shard& shard : shards_) shard.mutex.lock();
}

void ShardDriver::unlock_after_fork() noexcept {
  for (Shard& shard : shards_) shard.mutex.unlock();
}

// Inherited Hold objects point to the parent's records, and its waiting calls lie on the stacks of
// threads that do not exist in the child: the records are marked as lost and never freed.
void ShardDriver::forget_parent() noexcept {
  for (Shard& shard : shards_) {
    if (shard.table.size() != 0) {
      shard.table.for_each([](Coordinator& each) { each.inherit(); });
      leak_intentionally(new KeyTable<Coordinator>(std::move(shard.table)));
    }
    shard.timers.forget_all();
    shard.context.hold_objects = shard.releasing_threads = 0;
    shard.context.idle_holds = 0;
    shard.context.link_is_down = false;
    shard.mutex.unlock();
  }
}

}  // namespace latchkey::inline v1::detail
