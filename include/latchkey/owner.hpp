// Whose lock it is: the unit of re-entry.
#pragma once

#include <compare>
#include <cstdint>

namespace latchkey {

/// Re-entry belongs to an owner: a second acquire of a key by the same owner is counted, by another
/// one it waits.
///
/// By default the owner is the calling thread, by a number of its own that this process never gives
/// again (a `std::thread::id` is reused as soon as its thread has ended). Code whose work moves
/// between threads - coroutines, executors - makes an owner per task and passes
/// `locks.with_owner(owner)` along. A value: cheap to copy, comparable, any thread may use it.
class Owner {
 public:
  /// The calling thread; the same value for as long as it lives.
  [[nodiscard]] static Owner this_thread() noexcept;

  /// An owner that equals no other of this process.
  [[nodiscard]] static Owner make() noexcept;

  /// Equals no owner that this_thread() or make() gives: nobody.
  [[nodiscard]] static constexpr Owner nobody() noexcept { return Owner(0); }

  /// A number for messages and traces; unique within the process only.
  [[nodiscard]] constexpr std::uint64_t number() const noexcept { return number_; }

  friend constexpr bool operator==(Owner, Owner) noexcept = default;
  friend constexpr auto operator<=>(Owner, Owner) noexcept = default;

 private:
  constexpr explicit Owner(std::uint64_t number) noexcept : number_(number) {}

  std::uint64_t number_;
};

}  // namespace latchkey
