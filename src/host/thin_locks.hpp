// The locks of this process that nobody contends for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <latchkey/backend.hpp>

#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "host/segment/segment_format.hpp"

namespace latchkey::inline v1::detail::host {

/// Takes and gives back locks by one compare-and-swap on a thin word of the segment (ThinWord),
/// without the segment's lock. The hold is written to a cell of this process before. Everything
/// that this class does not carry out is for SharedTable, which moves the hold to the table first.
/// Thread-safe.
class ThinLocks {
 public:
  /// A process has so many cells for thin holds.
  static constexpr std::size_t cell_count = 32;

  ThinLocks() = default;
  ThinLocks(const ThinLocks&) = delete;
  ThinLocks& operator=(const ThinLocks&) = delete;
  ~ThinLocks() = default;

  /// From now on locks are taken from this slot, whose `thin_cells` are there.
  void attach(Layout& segment, std::size_t slot);
  /// From now on nothing is taken or given back, and the segment may be unmapped.
  void detach() noexcept;

  /// Frees the cells whose holds have been moved to the table, for keys with such a hash. With the
  /// segment's lock held: nobody is moving one, and no move is undone any more.
  void reclaim(std::size_t hash) noexcept;

  /// Carries out an acquire or a release that nobody contends for. False: nothing is done. The
  /// request has a time and a hash.
  [[nodiscard]] bool apply(const Request& request) noexcept {
    if (request.verb == Verb::acquire) return acquire(request);
    return request.verb == Verb::release && release(request);
  }

  // --- a fork ---
  void lock_all() noexcept LATCHKEY_NO_THREAD_SAFETY_ANALYSIS;
  void unlock_all() noexcept LATCHKEY_NO_THREAD_SAFETY_ANALYSIS;

 private:
  static constexpr std::size_t shard_count = 8;
  static constexpr std::size_t cells_of_shard = cell_count / shard_count;

  /// One cell of this process.
  struct Own {
    ThinHold* hold = nullptr;
    std::uint64_t word = 0;  ///< the thin word that leads to it
    Word* where = nullptr;   ///< the word that did so last; null: the cell is free
  };
  /// Threads that use different keys seldom need the same shard.
  struct alignas(64) Shard {
    SmallMutex mutex;
    Layout* segment LATCHKEY_GUARDED_BY(mutex) = nullptr;  ///< null: it is detached
    std::uint64_t name LATCHKEY_GUARDED_BY(mutex) = 0;     ///< of the slot
    Slot* slot LATCHKEY_GUARDED_BY(mutex) = nullptr;
    std::array<Own, cells_of_shard> cells LATCHKEY_GUARDED_BY(mutex);
  };

  [[nodiscard]] Shard& shard_of(std::size_t hash) noexcept {
    return shards_[hash / bucket_count % shard_count];
  }
  [[nodiscard]] bool acquire(const Request& request) noexcept;
  [[nodiscard]] bool release(const Request& request) noexcept;
  /// Whether the segment, and the slot in it, are still those of this process.
  [[nodiscard]] static bool is_valid(const Shard& shard) noexcept LATCHKEY_REQUIRES(shard.mutex) {
    return shard.segment != nullptr &&
           shard.segment->header.state.load(std::memory_order_relaxed) ==
               static_cast<std::uint64_t>(State::ready) &&
           shard.slot->name.load(std::memory_order_relaxed) == shard.name;
  }

  std::array<Shard, shard_count> shards_;
};

}  // namespace latchkey::inline v1::detail::host
