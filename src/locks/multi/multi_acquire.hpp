// One blocking acquire of several locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>

#include "locks/multi/acquire_members.hpp"
#include "locks/multi/batch_acquire.hpp"
#include "locks/multi/lock_set.hpp"
#include "locks/multi/multi_acquire_steps.hpp"
#include "locks/space/blocking_call.hpp"

namespace latchkey::inline v1::detail {

/// One call: MultiAcquireSteps decides, this makes the calls to the members' coordinators on the
/// caller's thread and waits for them. The destructor releases what is held and was neither taken
/// nor kept; its errors are reported to the listener.
class MultiAcquire : public AcquireMembers<BlockingCall> {
 public:
  /// Acquires Hold objects or, `by_lock`, as lock() does. `set` and `attempt` must outlive this.
  /// The types are the set's.
  MultiAcquire(const LockSet& set, const Attempt& attempt, bool by_lock);
  ~MultiAcquire() { give_back(); }

  /// granted: all are held; busy: not within the wait. Throws what Lock::acquire throws, about the
  /// member that was not granted.
  Answer run();
  /// Throws LockTimeout about the member that was busy. After run() returned busy.
  [[noreturn]] void fail();

  /// Makes the Hold that acquire returns. After run() returned granted. Throws std::bad_alloc.
  [[nodiscard]] Hold take();
  /// Has all stay held until they are unlocked. After run() returned granted.
  void keep() noexcept;

  // --- the host of MultiAcquireSteps ---
  void start_batch(const std::vector<std::size_t>& missing, Clock::time_point until);
  void start_acquire(std::size_t member, Clock::time_point until);
  void start_extend(std::size_t member, RemoteHold& hold, std::chrono::milliseconds lease);
  void start_release(std::size_t member, RemoteHold& hold);

 private:
  void wait_for_step();
  void give_back() noexcept;
  void finish_releases() noexcept;
  void finish_release(std::size_t member) noexcept;
  [[nodiscard]] bool in_one_step();
  [[nodiscard]] std::vector<BatchAcquire::Item> make_items(const std::vector<std::size_t>& members);

  const bool by_lock_;
  std::vector<std::optional<BlockingCall>> releases_;
  MultiAcquireSteps<MultiAcquire> steps_;
};

}  // namespace latchkey::inline v1::detail
