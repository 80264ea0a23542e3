// The owner of a lock: the unit of re-entry.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <cstdint>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Identifies who holds a lock. If an owner acquires a key that it holds already, the hold is
/// counted once more; another owner waits.
///
/// By default the owner is the calling thread, identified by a number that this process never
/// reuses (a `std::thread::id` is reused as soon as its thread has ended). Code whose work moves
/// between threads, such as coroutines and executors, makes one owner per task and uses
/// `locks.with_owner(owner)`. A value type: cheap to copy, comparable, usable on any thread.
class Owner {
 public:
  /// The calling thread's owner; the same value for as long as the thread lives.
  [[nodiscard]] static Owner this_thread() noexcept;

  /// A new owner, different from all others of this process.
  [[nodiscard]] static Owner make() noexcept;

  /// An owner that this_thread() and make() never return.
  [[nodiscard]] static constexpr Owner nobody() noexcept { return Owner(0); }

  /// A number for messages and traces; unique only within the process.
  [[nodiscard]] constexpr std::uint64_t number() const noexcept { return number_; }

  friend constexpr bool operator==(Owner, Owner) noexcept = default;
  friend constexpr auto operator<=>(Owner, Owner) noexcept = default;

 private:
  constexpr explicit Owner(std::uint64_t number) noexcept : number_(number) {}

  std::uint64_t number_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
