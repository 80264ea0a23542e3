// One blocking acquire of several locks.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>

#include "locks/multi/batch_acquire.hpp"
#include "locks/multi/lock_set.hpp"
#include "locks/multi/multi_acquire_plan.hpp"
#include "locks/space/blocking_call.hpp"

namespace latchkey::detail {

/// Carries out the steps of a MultiAcquirePlan on the caller's thread, by calls to the members'
/// coordinators. The destructor releases what is held and was neither taken nor kept; its errors
/// are reported to the listener.
class MultiAcquire {
 public:
  /// Acquires Hold objects, or as lock() does. `set` and `attempt` must outlive this. The types are
  /// the set's.
  MultiAcquire(const LockSet& set, const Attempt& attempt, bool by_lock);
  MultiAcquire(const MultiAcquire&) = delete;
  MultiAcquire& operator=(const MultiAcquire&) = delete;
  ~MultiAcquire() { give_back(); }

  /// granted: all are held; busy: not within the wait. Throws what Lock::acquire throws, about the
  /// member that was not granted.
  Answer run();
  /// After busy: throws LockTimeout about the member that was busy.
  [[noreturn]] void fail();

  /// After granted: what acquire returns. Throws std::bad_alloc.
  [[nodiscard]] Hold take();
  /// After granted: all stay held until they are unlocked.
  void keep() noexcept { parts_.clear(); }

 private:
  /// What this call has of one member.
  struct Part {
    const LockMember* lock = nullptr;
    LockSpace* space = nullptr;
    Owner owner = Owner::nobody();
    RemoteHold* hold = nullptr;
    bool pinned = false;                 ///< its lease is renewed while others are awaited
    std::optional<BlockingCall> call{};  ///< the last acquire or extend
    std::optional<BlockingCall> release{};
  };

  void carry_out(MultiAcquirePlan& plan);
  void attempt(MultiAcquirePlan& plan);
  void await(MultiAcquirePlan& plan);
  void fill(MultiAcquirePlan& plan);
  void give_back() noexcept;
  void start_release(Part& part);
  static void finish_release(Part& part, Clock::time_point asked, Clock::time_point until) noexcept;
  static void pin(Part& part) noexcept;
  static void unpin(Part& part) noexcept;
  [[nodiscard]] bool in_one_step();
  [[nodiscard]] bool any_lost() const noexcept;
  [[nodiscard]] bool needs_extension(const Part& part) const noexcept;
  [[nodiscard]] std::vector<BatchAcquire::Item> missing();
  /// `at`, which is a time of the first member's clock, by the clock of `space`.
  [[nodiscard]] Clock::time_point by_clock_of(const LockSpace& space,
                                              Clock::time_point at) const noexcept;
  /// The end of the wait, and of the grace.
  [[nodiscard]] Clock::time_point end() const noexcept { return later(until_, grace_); }
  [[nodiscard]] Clock::time_point now() const noexcept;

  const LockSet& set_;
  const Attempt& attempt_;
  const bool by_lock_;
  std::vector<Part> parts_;
  Clock::time_point asked_;
  Clock::time_point until_;
  std::chrono::milliseconds grace_{};  ///< Call::grace
  Answer answer_ = Answer::pending;
  std::size_t culprit_ = 0;  ///< not granted: the member that `answer_` is about
};

}  // namespace latchkey::detail
