// One request for several keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/owner.hpp>

#include "locks/space/blocking_call.hpp"

namespace latchkey::inline v1::detail {

/// Acquires several keys of one space by one acquire_all, as BatchSteps decides.
///
/// With the mutexes of all keys held, each key's call takes its place in the local queue. If it is
/// first in every queue, the request is submitted before the mutexes are unlocked: so this request,
/// too, reaches the backend in the order of the decisions.
class BatchAcquire {
 public:
  /// One of the keys. `call` is new, and has the answer afterwards; Answer::pending: the key was
  /// not asked for, because another was not free.
  struct Item {
    BlockingCall* call;
    std::string_view key;  ///< with its prefix; distinct in all of them
    LockType type;
    Owner owner;
    MemberReport* report;
    std::size_t hash = 0;  ///< BatchAcquire's own
  };

  /// `items` are of `space`. `grace` is Call::grace.
  BatchAcquire(LockSpace& space, std::span<Item> items, const Attempt& attempt,
               std::chrono::milliseconds grace, bool by_lock) noexcept
      : space_(space), items_(items), attempt_(attempt), grace_(grace), by_lock_(by_lock) {}

  /// Whether the backend of `space` takes these keys in one step.
  [[nodiscard]] static bool is_possible(const LockSpace& space, std::span<const Item> items);

  /// Blocks until each call is answered. Without an outcome within the grace after `until` they
  /// end as unavailable. If it throws std::bad_alloc, calls that have re-entered their keys are
  /// granted.
  void run(Clock::time_point until);

 private:
  class BatchRequest;
  class Host;

  [[nodiscard]] bool start(BatchRequest& request);

  LockSpace& space_;
  std::span<Item> items_;
  const Attempt& attempt_;
  std::chrono::milliseconds grace_;
  bool by_lock_;
};

}  // namespace latchkey::inline v1::detail
