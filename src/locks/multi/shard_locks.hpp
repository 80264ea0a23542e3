// The mutexes of several keys' shards.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <ranges>

#include "core/collections/index_set.hpp"
#include "core/thread_annotations.hpp"
#include "locks/space/shard.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

/// Locks the shards of several keys in the order in which a fork locks them, each once. Like
/// ShardLock, it wakes threads and tells completions after all mutexes are unlocked. Needs no heap
/// memory.
class ShardLocks {
 public:
  /// `keys` have a member `hash`.
  template <std::ranges::forward_range Keys>
  ShardLocks(ShardDriver& driver, const Keys& keys) noexcept : driver_(driver) {
    IndexSet<ShardDriver::shard_count> wanted;
    for (const auto& key : keys) wanted.insert(driver.index_of(driver.shard_of(key.hash)));
    // The analysis does not see that the destructor unlocks them.
    wanted.for_each([&](std::size_t index) LATCHKEY_NO_THREAD_SAFETY_ANALYSIS {
      ::new (static_cast<void*>(rooms_[size_].bytes)) ShardLock(driver.shards()[index]);
      rooms_of_[index] = static_cast<std::uint8_t>(size_++);
    });
  }
  ShardLocks(const ShardLocks&) = delete;
  ShardLocks& operator=(const ShardLocks&) = delete;
  ~ShardLocks() {
    CompletedCalls completed;
    for (std::size_t room = 0; room < size_; ++room) {
      ShardLock& lock = in(rooms_[room]);
      completed.append(lock.take_completed());
      std::destroy_at(&lock);
    }
    completed.notify_all();
  }

  /// The lock of `shard`, which is one of them: its mutex is held.
  [[nodiscard]] ShardLock& of(const Shard& shard) noexcept LATCHKEY_ASSERT_CAPABILITY(shard.mutex) {
    return in(rooms_[rooms_of_[driver_.index_of(shard)]]);
  }

 private:
  struct Room {
    alignas(ShardLock) std::byte bytes[sizeof(ShardLock)];
  };
  [[nodiscard]] static ShardLock& in(Room& room) noexcept {
    return *std::launder(reinterpret_cast<ShardLock*>(room.bytes));
  }

  ShardDriver& driver_;
  std::size_t size_ = 0;
  std::array<Room, ShardDriver::shard_count> rooms_;             // NOLINT: the first size_ are used
  std::array<std::uint8_t, ShardDriver::shard_count> rooms_of_;  // NOLINT: by index of the shard
};
static_assert(ShardDriver::shard_count <= 256, "a room's number has 8 bits");

}  // namespace latchkey::inline v1::detail
