// One mutex's worth of keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include <latchkey/parker.hpp>

#include "core/collections/small_vector.hpp"
#include "core/key_table.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/coordinator/coordinator.hpp"
#include "locks/coordinator/event_context.hpp"
#include "locks/space/timers.hpp"

namespace latchkey::inline v1::detail {

/// The coordinators of the keys whose hashes begin alike, and the mutex that guards them. There are
/// many more shards than threads, so two threads seldom write to the same one.
struct alignas(64) Shard {
  SmallMutex mutex;
  /// No Locks or Lock is left: Lifetime counts the holds of this shard.
  bool detached LATCHKEY_GUARDED_BY(mutex) = false;
  /// Threads that still need the space for a release; Lifetime counts them too.
  std::uint32_t releasing_threads LATCHKEY_GUARDED_BY(mutex) = 0;
  KeyTable<Coordinator> table LATCHKEY_GUARDED_BY(mutex);
  Timers timers LATCHKEY_GUARDED_BY(mutex);
  CoordinatorContext context LATCHKEY_GUARDED_BY(mutex);
};
static_assert(sizeof(Shard) == 128);

/// Locks a shard's mutex. Threads that an event wakes are unparked after the unlock: a thread that
/// is woken earlier blocks on the mutex at once, which costs two more context switches. Completions
/// are told after the unlock because they may start other calls.
class LATCHKEY_SCOPED_CAPABILITY ShardLock {
 public:
  explicit ShardLock(Shard& shard) noexcept LATCHKEY_ACQUIRE(shard.mutex) : mutex_(shard.mutex) {
    mutex_.lock();
  }
  ShardLock(const ShardLock&) = delete;
  ShardLock& operator=(const ShardLock&) = delete;
  ~ShardLock() LATCHKEY_RELEASE() {
    mutex_.unlock();
    if (!woken_.empty() || !completed_.empty()) [[unlikely]]
      notify();
  }

  /// `parker` must never be destroyed, which holds for every thread's own (Parker::mine).
  void unpark_after_unlock(Parker& parker) noexcept {
    if (woken_.make_room()) {
      woken_.push_back(&parker);
    } else {
      parker.unpark();
    }
  }

  void notify_after_unlock(CompletedCalls&& completed) noexcept {
    completed_.append(std::move(completed));
  }
  /// Takes the completed calls, for a thread that holds other shards' mutexes, too, and notifies
  /// them itself.
  [[nodiscard]] CompletedCalls take_completed() noexcept { return std::move(completed_); }

 private:
  [[gnu::noinline]] void notify() noexcept {
    for (Parker* const each : woken_) each->unpark();
    completed_.notify_all();
  }

  SmallMutex& mutex_;
  SmallVector<Parker*, 4> woken_;
  CompletedCalls completed_;
};

/// A key with its hash, and the shard that the hash leads to.
struct KeyPlace {
  std::string_view key;
  std::size_t hash;
  Shard& shard;
};

}  // namespace latchkey::inline v1::detail
