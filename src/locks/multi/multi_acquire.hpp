// One blocking acquire of several locks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>

#include "locks/multi/batch_acquire.hpp"
#include "locks/multi/lock_set.hpp"
#include "locks/multi/multi_acquire_plan.hpp"
#include "locks/space/blocking_call.hpp"

namespace latchkey::detail {

/// Carries out what a MultiAcquirePlan decides, on the caller's thread, by calls to the
/// coordinators of the members. What is held when this goes and was not taken is released, and what
/// cannot be said about that is told to the listener.
class MultiAcquire {
 public:
  /// Takes by acquire, or as lock() does. The set must outlive this. The types are the set's.
  MultiAcquire(const LockSet& set, const Attempt& attempt, bool by_lock);
  MultiAcquire(const MultiAcquire&) = delete;
  MultiAcquire& operator=(const MultiAcquire&) = delete;
  ~MultiAcquire() { give_back(); }

  /// granted: all are held; busy: not within the wait. Throws what Lock::acquire throws, about the
  /// member that was in the way.
  Answer run();
  /// Throws LockTimeout about the member that was busy.
  [[noreturn]] void fail();

  /// After granted: what acquire gives.
  [[nodiscard]] Hold take();
  /// After granted: lock() keeps it until it is unlocked.
  void keep() noexcept { parts_.clear(); }

 private:
  struct Part {
    const LockMember* lock = nullptr;
    LockSpace* space = nullptr;
    Owner owner = Owner::nobody();
    RemoteHold* hold = nullptr;
    bool kept = false;                   ///< its lease is renewed while others are awaited
    std::optional<BlockingCall> call{};  ///< the last acquire or extend
    std::optional<BlockingCall> end{};   ///< the release
  };

  void carry_out(MultiAcquirePlan& composite);
  void attempt(MultiAcquirePlan& composite);
  void await(MultiAcquirePlan& composite);
  void fill(MultiAcquirePlan& composite);
  void give_back() noexcept;
  void keep_alive(Part& part) noexcept;
  void unpin(Part& part) noexcept;
  [[nodiscard]] bool any_lost() const noexcept;
  [[nodiscard]] Attempt attempt_of(const Part& part) const;
  [[nodiscard]] std::vector<BatchAcquire::Asked> missing();
  /// At `at` by the clock of the first member, which may be another than the space's own.
  [[nodiscard]] Clock::time_point at_its_own(const LockSpace& space,
                                             Clock::time_point at) const noexcept;
  /// The end of the wait, and of the grace.
  [[nodiscard]] Clock::time_point end() const noexcept { return later(until_, grace_); }
  [[nodiscard]] Clock::time_point now() const noexcept {
    return parts_.front().space->clock().now();
  }

  const LockSet& set_;
  const Attempt& attempt_;
  const bool by_lock_;
  std::vector<Part> parts_;
  Clock::time_point asked_;
  Clock::time_point until_;
  std::chrono::milliseconds grace_{};  ///< Call::grace
  Answer answer_ = Answer::pending;
  std::size_t culprit_ = 0;  ///< where not granted: of which member the answer is
};

}  // namespace latchkey::detail
