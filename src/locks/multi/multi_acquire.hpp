// One blocking acquire of several locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>

#include "locks/multi/batch_acquire.hpp"
#include "locks/multi/lock_set.hpp"
#include "locks/multi/multi_acquire_steps.hpp"
#include "locks/space/blocking_call.hpp"

namespace latchkey::inline v1::detail {

/// One call: MultiAcquireSteps decides, this makes the calls to the members' coordinators on the
/// caller's thread and waits for them. The destructor releases what is held and was neither taken
/// nor kept; its errors are reported to the listener.
class MultiAcquire {
 public:
  /// Acquires Hold objects or, `by_lock`, as lock() does. `set` and `attempt` must outlive this.
  /// The types are the set's.
  MultiAcquire(const LockSet& set, const Attempt& attempt, bool by_lock);
  MultiAcquire(const MultiAcquire&) = delete;
  MultiAcquire& operator=(const MultiAcquire&) = delete;
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
  [[nodiscard]] Clock::time_point now() const noexcept;
  [[nodiscard]] Clock::time_point now_of(std::size_t member) const noexcept;
  [[nodiscard]] const Call* call_of(std::size_t member) const noexcept;
  void forget_call(std::size_t member) noexcept { parts_[member].call.reset(); }
  void start_batch(const std::vector<std::size_t>& missing, Clock::time_point until);
  void start_acquire(std::size_t member, Clock::time_point until);
  void start_extend(std::size_t member, RemoteHold& hold, std::chrono::milliseconds lease);
  void start_release(std::size_t member, RemoteHold& hold);
  void pin(std::size_t member, RemoteHold& hold) noexcept;
  void unpin(std::size_t member, RemoteHold& hold) noexcept;

 private:
  /// One member, and this call's calls to its coordinator.
  struct Part {
    const LockMember* lock = nullptr;
    LockSpace* space = nullptr;
    Owner owner = Owner::nobody();
    MemberReport report{};
    std::optional<BlockingCall> call{};  ///< the last acquire or extend
    std::optional<BlockingCall> release{};
  };

  void wait_for_step();
  void give_back() noexcept;
  void finish_releases() noexcept;
  void finish_release(Part& part) noexcept;
  [[nodiscard]] bool in_one_step();
  [[nodiscard]] std::vector<BatchAcquire::Item> make_items(const std::vector<std::size_t>& members);
  /// `at`, which is a time of the first member's clock, by the clock of `space`.
  [[nodiscard]] Clock::time_point by_clock_of(const LockSpace& space,
                                              Clock::time_point at) const noexcept;
  /// The end of the wait and its grace.
  [[nodiscard]] Clock::time_point end() const noexcept { return later(until_, grace_); }

  const LockSet& set_;
  const Attempt& attempt_;
  const bool by_lock_;
  std::vector<Part> parts_;
  MultiAcquireSteps<MultiAcquire> steps_;
  Clock::time_point asked_;
  Clock::time_point until_;
  std::chrono::milliseconds grace_{};  ///< Call::grace
};

}  // namespace latchkey::inline v1::detail
