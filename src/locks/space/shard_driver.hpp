// All coordinators of a space, in shards: events in, actions out.
// tidy: long-file because the paths of an uncontended lock are inlined into the calls
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lease.hpp>

#include "core/key_table.hpp"
#include "core/mutex.hpp"
#include "locks/coordinator/recent_keys.hpp"
#include "locks/coordinator/repeated_hold.hpp"
#include "locks/space/closers.hpp"
#include "locks/space/due_times.hpp"
#include "locks/space/shard.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;
class Reporter;

/// Brings every event to its key's coordinator under the shard's mutex, and carries out the actions
/// before the mutex is unlocked: requests reach the backend in the order of the decisions.
/// Thread-safe.
class ShardDriver final : public ImmediateBackend {
 public:
  static constexpr std::size_t shard_bits = 8;
  static constexpr std::size_t shard_count = std::size_t{1} << shard_bits;

  /// The parts that the coordinators' actions need. All of them must outlive the last event.
  struct Surroundings {
    Clock& clock;
    Backend& backend;
    Sink& sink;  ///< receives the outcome of every request
    Reporter& reporter;
    Closers& closers;
    DueTimes& due_times;
  };

  explicit ShardDriver(const Surroundings& surroundings) noexcept : to_(surroundings) {}
  /// Makes the shards ready, before the first event. `settings` must outlive it.
  void start(LockSpace& space, const CoordinatorSettings& settings);
  /// Drops what no backend is left to answer for, after the last event.
  void drop_all() noexcept;

  // --- keys ---
  [[nodiscard]] Shard& shard_of(std::size_t hash) noexcept {
    return shards_[hash >> (64 - shard_bits)];
  }
  /// Coordinator::pin and unpin, from any thread.
  void pin(RemoteHold& hold) noexcept {
    const ScopedLock lock(shard_of(hold.home->hash).mutex);
    Coordinator::pin(hold);
  }
  void unpin(RemoteHold& hold) noexcept {
    const ScopedLock lock(shard_of(hold.home->hash).mutex);
    Coordinator::unpin(hold);
  }
  /// Coordinator::listen_for_revocation, from any thread.
  void listen_for_revocation(RemoteHold& hold) noexcept;
  /// Gives back what this process has of `key` although nobody here holds it.
  void end_idle_hold(std::string_view key) noexcept;
  /// Begins the time that held_at_most of `lease` allows a local hold of one of several keys, all
  /// of which are granted now. Returns the number of its limit; 0: there is none.
  [[nodiscard]] HoldLimits::Number limit(RemoteHold& hold, const Lease& lease) noexcept;
  [[nodiscard]] std::size_t index_of(const Shard& shard) const noexcept {
    return static_cast<std::size_t>(&shard - shards_.data());
  }
  [[nodiscard]] std::span<Shard> shards() noexcept { return shards_; }

  /// Finds the shard of `key`, and prefetches it while the caller reads the clock: all shards
  /// together are larger than a processor's first cache.
  [[nodiscard]] KeyPlace place_of(std::string_view key) noexcept {
    return place_of(key, hash_key(key));
  }
  /// `hash`: hash_key(key).
  [[nodiscard]] KeyPlace place_of(std::string_view key, std::size_t hash) noexcept {
    Shard& shard = shard_of(hash);
    __builtin_prefetch(&shard.mutex, 1);
    __builtin_prefetch(&shard.context, 1);
    return {key, hash, shard};
  }

  /// The key's coordinator, which is created if there is none. Throws std::bad_alloc.
  [[nodiscard]] static Coordinator& coordinator(Shard& shard, const KeyPlace& place)
      LATCHKEY_REQUIRES(shard.mutex) {
    if (Coordinator* const found = shard.table.find(place.key, place.hash)) return *found;
    return new_coordinator(shard, place);
  }
  /// Creates the coordinator of a key that has none. Throws std::bad_alloc.
  [[nodiscard]] static Coordinator& new_coordinator(Shard& shard, const KeyPlace& place)
      LATCHKEY_REQUIRES(shard.mutex) {
    Coordinator& made = shard.table.insert(place.key, place.hash);
    made.start(shard.context);
    return made;
  }

  // --- a backend in the same process ---
  /// False once the backend has not answered an acquire at once, for then it answers none so.
  [[nodiscard]] bool answers_at_once() const noexcept {
    return answers_at_once_.load(std::memory_order_relaxed);
  }
  /// Acquires a key that no call of this process uses, if no listener is told of grants. Null: it
  /// is not granted, and nothing is changed.
  [[nodiscard]] RemoteHold* acquire_at_once(const KeyPlace& place, const AcquireTerms& terms,
                                            Clock::time_point now);
  /// `found`: the key's coordinator; null: it has none.
  [[nodiscard]] RemoteHold* acquire_anew(Shard& shard, ShardLock& lock, const KeyPlace& place,
                                         Coordinator* found, const AcquireTerms& terms,
                                         Clock::time_point now) LATCHKEY_REQUIRES(shard.mutex);
  /// Undoes what one Hold was granted if it is the last one and nobody waits for the key. False:
  /// nothing is undone, and the same release has to follow.
  [[nodiscard]] bool release_at_once(RemoteHold& hold, Clock::time_point now) noexcept;
  /// Undoes the only lock() of `owner`, in the same way. `time_of(hold)` returns the time of its
  /// release.
  template <class TimeOf>
  [[nodiscard]] bool unlock_at_once(const KeyPlace& place, LockType type, Owner owner,
                                    TimeOf&& time_of) noexcept;
  /// Gives up `claim`, which was not granted at once. Null: `home` has none.
  void withdraw(Shard& shard, ShardLock& lock, Coordinator& home, RemoteHold* claim)
      LATCHKEY_REQUIRES(shard.mutex);

  // --- events ---
  /// `bring(EventContext&)` brings one event that is not a call's to `home`. The coordinator may be
  /// gone afterwards.
  template <class Bring>
  void handle(Shard& shard, ShardLock& lock, Coordinator& home, Bring&& bring)
      LATCHKEY_REQUIRES(shard.mutex) {
    Actions actions;
    EventContext context(to_.clock, actions);
    bring(context);
    perform(shard, lock, home, context);
  }
  /// Carries out the actions of one event of `home`, which may be gone afterwards.
  void perform(Shard& shard, ShardLock& lock, Coordinator& home, EventContext& context)
      LATCHKEY_REQUIRES(shard.mutex) {
    if (!context.out.empty()) carry_out(lock, home, context);
    RepeatedHold::end(home);
    erase_if_idle(shard, home);
    if (shard.context.too_many_are_idle()) [[unlikely]]
      give_back_least_recent(shard, lock);
  }
  /// From now on the timer thread brings `home` its ticks when they are due.
  void schedule(Shard& shard, Coordinator& home) LATCHKEY_REQUIRES(shard.mutex) {
    const Clock::time_point due = home.due();
    if (due == home.due_at) return;
    shard.timers.update(home, due);
    to_.due_times.note(index_of(shard) / group_size, due);
  }

  void completed(Request& request, Outcome& outcome) noexcept;
  void notified(const Notification& notification) noexcept;
  /// Brings ticks to the coordinators of `group` that are due. Called by the timer thread.
  void tick_due(std::size_t group, Clock::time_point now);
  template <class Visit>
  void for_each_coordinator(Visit&& visit);

  // --- the backend ---
  /// Lends the calling thread to the backend. Without memory for that, the thread sleeps a moment.
  void drive(Parker& parker, Clock::time_point until) noexcept;
  /// Answers `request` if the backend does so at once. Without memory for the answer, it is
  /// unknown.
  [[nodiscard]] bool answer(Request& request, Outcome& outcome) noexcept override {
    try {
      if (to_.backend.answer(request, outcome, to_.sink)) return true;
      if (request.verb == Verb::acquire || request.verb == Verb::acquire_all) note_unanswered();
      return false;
    } catch (const std::bad_alloc&) {
      return out_of_memory(outcome);
    }
  }
  [[nodiscard]] bool grant_uncontended(const Request& request) noexcept override {
    return to_.backend.grant_uncontended(request, to_.sink);
  }
  void submit(Request& request) {
    Request* const one[] = {&request};
    to_.backend.submit(one, to_.sink);
  }
  /// Has the timer thread drive the backend after each submit, from now on: for calls that no
  /// thread waits for, at a backend without a LoopDriver.
  void lend_timer_thread() noexcept {
    if (!lends_timer_.exchange(true)) to_.due_times.wake();
  }
  void submit(std::span<Request* const> requests) { to_.backend.submit(requests, to_.sink); }

  // --- the end ---
  /// From now on every acquire ends as closed.
  void refuse_calls() noexcept;
  /// From now on, unless it was `no_longer`.
  void keep_idle(KeepsIdle whether) noexcept;
  /// Whether `question` is true of some coordinator.
  [[nodiscard]] bool any(bool (Coordinator::*question)() const) noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER;
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER;
  void forget_parent() noexcept LATCHKEY_FORK_HANDLER;

 private:
  static constexpr std::size_t group_size = shard_count / DueTimes::groups;

  /// `home` has released at once. It stays although it is idle if this thread has released the key
  /// before, until its next tick, and no other key of the shard does: of a key that is taken again
  /// and again nothing is made anew, and a thread that takes many keys leaves none of them here.
  void keep_or_erase(Shard& shard, Coordinator& home) LATCHKEY_REQUIRES(shard.mutex) {
    const bool is_usual = RecentKeys::note(home.hash);
    if (!is_usual || shard.table.size() != 1 || !RepeatedHold::is_set_aside(home)) {
      return erase_if_idle(shard, home);
    }
    to_.closers.wake();
  }
  /// Erases `home`, which has handled an event or was asked at once, if it is idle, and otherwise
  /// schedules it.
  void erase_if_idle(Shard& shard, Coordinator& home) LATCHKEY_REQUIRES(shard.mutex) {
    if (home.idle()) {
      shard.timers.remove(home);
      shard.table.erase(home);
    } else {
      schedule(shard, home);
    }
    to_.closers.wake();
  }
  [[nodiscard, gnu::always_inline]] bool release(Coordinator& home, RemoteHold& hold,
                                                 Clock::time_point now) noexcept {
    return RepeatedHold::release(home, hold, *this, now) || release_any(home, hold, now);
  }
  [[nodiscard, gnu::noinline]] bool release_any(Coordinator& home, RemoteHold& hold,
                                                Clock::time_point now) noexcept {
    return home.release_at_once(hold, *this, now);
  }
  /// Gives back the idle hold of `home`.
  void give_back(Shard& shard, ShardLock& lock, Coordinator& home) LATCHKEY_REQUIRES(shard.mutex);
  /// Gives back the idle hold of the shard that was used longest ago.
  void give_back_least_recent(Shard& shard, ShardLock& lock) LATCHKEY_REQUIRES(shard.mutex);
  static bool out_of_memory(Outcome& outcome) noexcept;
  void note_unanswered() noexcept {
    if (answers_at_once()) answers_at_once_.store(false, std::memory_order_relaxed);
  }
  void carry_out(ShardLock& lock, Coordinator& home, EventContext& context);
  inline void submit(Coordinator& home, EventContext& context);
  static void wake(Call& call, ShardLock& lock);

  Surroundings to_;
  std::atomic<bool> answers_at_once_{true};
  std::atomic<bool> lends_timer_{false};
  std::array<Shard, shard_count> shards_;
};

// --- inline: an uncontended lock in this process is little else ---

inline RemoteHold* ShardDriver::acquire_at_once(const KeyPlace& place, const AcquireTerms& terms,
                                                Clock::time_point now) {
  Shard& shard = place.shard;
  ShardLock lock(shard);
  if (shard.context.closed) return nullptr;
  Coordinator* const found = shard.table.find(place.key, place.hash);
  if (found != nullptr && RepeatedHold::is_set_aside(*found)) [[likely]] {
    RemoteHold* const hold = RepeatedHold::acquire(*found, terms, *this, now);
    if (hold != nullptr) [[likely]] {
      schedule(shard, *found);
      return hold;
    }
  }
  return acquire_anew(shard, lock, place, found, terms, now);
}

[[gnu::noinline]] inline RemoteHold* ShardDriver::acquire_anew(Shard& shard, ShardLock& lock,
                                                               const KeyPlace& place,
                                                               Coordinator* found,
                                                               const AcquireTerms& terms,
                                                               Clock::time_point now) {
  if (found != nullptr && !found->idle_but_for_grants()) return nullptr;
  Coordinator& home = found != nullptr ? *found : new_coordinator(shard, place);
  RemoteHold* const hold = home.acquire_at_once(terms, *this, now);
  if (hold == nullptr || hold->stage != RemoteHold::Stage::held) [[unlikely]] {
    withdraw(shard, lock, home, hold);
    return nullptr;
  }
  RepeatedHold::begin(home, *hold, terms);
  schedule(shard, home);
  return hold;
}

inline bool ShardDriver::release_at_once(RemoteHold& hold, Clock::time_point now) noexcept {
  Coordinator& home = *hold.home;
  Shard& shard = shard_of(home.hash);
  const ScopedLock lock(shard.mutex);
  if (shard.detached || !release(home, hold, now)) return false;
  --shard.context.hold_objects;
  keep_or_erase(shard, home);
  return true;
}

template <class TimeOf>
bool ShardDriver::unlock_at_once(const KeyPlace& place, LockType type, Owner owner,
                                 TimeOf&& time_of) noexcept {
  Shard& shard = place.shard;
  const ScopedLock lock(shard.mutex);
  Coordinator* const home = shard.detached ? nullptr : shard.table.find(place.key, place.hash);
  RemoteHold* const hold = home != nullptr ? home->only_lock_of(owner, type) : nullptr;
  if (hold == nullptr || !release(*home, *hold, time_of(*hold))) return false;
  keep_or_erase(shard, *home);
  return true;
}

template <class Visit>
void ShardDriver::for_each_coordinator(Visit&& visit) {
  for (Shard& shard : shards_) {
    ShardLock lock(shard);
    // The analysis does not see that the table calls this with the mutex held.
    shard.table.for_each([&](Coordinator& each) LATCHKEY_NO_THREAD_SAFETY_ANALYSIS {
      handle(shard, lock, each, [&](EventContext& context) { visit(each, context); });
    });
  }
}

}  // namespace latchkey::inline v1::detail
