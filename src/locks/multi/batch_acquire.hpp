// One request for several keys.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/owner.hpp>

#include "locks/space/blocking_call.hpp"

namespace latchkey::detail {

/// Takes its place in the local queue of every key, with the mutexes of all of them held, and where
/// it is the first everywhere asks the backend for all by one acquire_all, before they are let go:
/// so this request too reaches the backend in the order of the decisions. What comes of it is told
/// to each key's coordinator as the answer to an acquire of its own, which then does what it always
/// does: it counts the hold, or gives back what may have been granted.
class BatchAcquire {
 public:
  /// One of the keys. `call` is new and tells what became of it.
  struct Asked {
    BlockingCall* call;
    std::string_view key;  ///< with its prefix; distinct in all of them
    LockType type;
    Owner owner;
    std::size_t hash = 0;         ///< BatchAcquire's own
    RemoteHold* claim = nullptr;  ///< BatchAcquire's own
  };

  /// Whether the space's backend takes keys like these in one step.
  [[nodiscard]] static bool offered(const LockSpace& space, std::span<const Asked> all) noexcept;

  /// Blocks until each of `all`, which are of `space`, is answered: granted, or why not. Without an
  /// answer until `until` they are unavailable.
  static void ask(LockSpace& space, std::span<Asked> all, const Attempt& attempt, bool by_lock,
                  Clock::time_point until);

 private:
  class Shards;
  class Together;

  static bool reserve(LockSpace& space, Shards& shards, std::span<Asked> all,
                      const Attempt& attempt, bool by_lock);
  static void give_up(LockSpace& space, std::span<Asked> all, std::span<const std::size_t> asked);
  static void tell(LockSpace& space, Shards& shards, Asked& one, Outcome outcome);
  static void tell_all(LockSpace& space, Shards& shards, std::span<Asked> all,
                       const Outcome& outcome, std::span<const std::size_t> asked);
};

}  // namespace latchkey::detail
