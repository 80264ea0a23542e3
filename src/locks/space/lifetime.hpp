// How long a space lives without a Locks or a Lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

#include "core/thread_annotations.hpp"
#include "locks/space/shard.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;
class ShardDriver;

/// Counts what keeps a detached space alive: its Hold objects, and the threads that still need the
/// space for a release. A space is detached when the last Locks or Lock is gone; until then holds
/// are counted per shard, so that threads do not share a counter. Thread-safe.
class Lifetime {
 public:
  /// Begins to count, once. True: nothing keeps the space, which must be deleted.
  [[nodiscard]] bool detach(ShardDriver& driver);
  /// Takes one hold or thread off the count of a detached space. True: it was the last.
  [[nodiscard]] bool drop() noexcept { return references_.fetch_sub(1) == 1; }

 private:
  std::atomic<std::uint64_t> references_{0};
};

/// Keeps the space of a hold that is being released for as long as the releasing thread needs it.
/// The destructor deletes the space if nothing else keeps it.
class ReleaseGuard {
 public:
  ReleaseGuard() noexcept = default;
  ReleaseGuard(const ReleaseGuard&) = delete;
  ReleaseGuard& operator=(const ReleaseGuard&) = delete;
  ~ReleaseGuard() {
    if (shard_ != nullptr || counted_) drop();
  }
  /// Ends the guard on a thread that may be inside the space's backend: if nothing else keeps the
  /// space, the timer thread deletes it, not this one.
  void drop_later() noexcept;

  /// The coordinator has taken the hold back, which keeps the space no longer.
  void hold_released(LockSpace& space, const Shard& shard) noexcept LATCHKEY_REQUIRES(shard.mutex) {
    space_ = &space;
    counted_ = shard.detached;
  }
  /// Keeps the space for this thread, which has still to wait, or to report an error.
  void keep_space(Shard& shard) noexcept LATCHKEY_REQUIRES(shard.mutex) {
    ++shard.releasing_threads;
    shard_ = &shard;
  }

 private:
  void drop() noexcept;
  /// Ends the keeping. True: Lifetime has counted the hold, or this thread.
  [[nodiscard]] bool uncount() noexcept;

  LockSpace* space_ = nullptr;
  Shard* shard_ = nullptr;  ///< not null: its releasing_threads counts this thread
  bool counted_ = false;    ///< Lifetime counts the hold, or this thread
};

}  // namespace latchkey::inline v1::detail
