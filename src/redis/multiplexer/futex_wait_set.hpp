// How threads without leadership sleep and are woken: all on one futex.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

#include <latchkey/clock.hpp>
#include <latchkey/parker.hpp>

namespace latchkey::inline v1::detail::redis {

/// All threads sleep on one futex, each with a bit of its own (FUTEX_WAIT_BITSET), so one system
/// call wakes every thread whose reply has come. If each thread were woken by a call of its own, it
/// would preempt the waking thread, which then has to come back for the next one: two context
/// switches for each thread instead of one.
///
/// If more than 32 threads sleep, several share a bit; a wake-up for one may then wake the others,
/// which go back to sleep.
class FutexWaitSet {
 public:
  /// A set of bits. A thread's slot is one bit.
  using Slots = std::uint32_t;
  using Word = std::atomic<std::uint32_t>;

  /// A slot for one thread. Two that are assigned at the same time may be equal. Thread-safe.
  [[nodiscard]] Slots assign_slot() noexcept {
    const Slots last = last_slot_.load(std::memory_order_relaxed);
    const Slots next = last << 1 | last >> 31;
    last_slot_.store(next, std::memory_order_relaxed);
    return next;
  }

  /// Returns once `reasons` is not 0, at the latest at `until`. Thread-safe.
  void sleep(const Word& reasons, Slots slot, const Clock& clock, Clock::time_point until) noexcept;

  /// To be called after the reasons of the threads were set. The caller carries out the result once
  /// it holds no mutex that these threads need. If the calling thread has a WakeBatch for this set,
  /// the wake-up joins that batch and the result is empty. Thread-safe.
  [[nodiscard]] Parker::Wake wake(Slots slots) noexcept;

  /// While it lives, wake-ups by the calling thread are collected; `wake_all` or the destructor
  /// carries them out with one system call.
  class WakeBatch {
   public:
    explicit WakeBatch(FutexWaitSet& wait_set) noexcept;
    WakeBatch(const WakeBatch&) = delete;
    WakeBatch& operator=(const WakeBatch&) = delete;
    ~WakeBatch() { wake_all(); }

    [[nodiscard]] bool empty() const noexcept { return slots_ == 0; }
    /// Ends the batch: later wake-ups are not collected.
    void wake_all() noexcept;

   private:
    friend class FutexWaitSet;
    FutexWaitSet& wait_set_;
    Slots slots_ = 0;
    WakeBatch* const outer_;
    bool ended_ = false;
  };

 private:
  Word word_ = 0;  ///< changes with every wake-up, so that no thread sleeps through one
  std::atomic<Slots> last_slot_ = 1;
};

/// The sleep of one thread: on the wait set's futex or, with a wake-up descriptor (an eventfd), in
/// poll(2). A thread is woken for two reasons, which its parker alone could not tell apart: its
/// parker was unparked, or another thread of the multiplexer interrupts it.
class Waiter final : public Parker::Alarm {
 public:
  explicit Waiter(FutexWaitSet& wait_set) noexcept
      : wait_set_(wait_set), slot_(wait_set.assign_slot()) {}

  using Reasons = std::uint32_t;
  static constexpr Reasons unparked = 1;     ///< the thread's parker was unparked
  static constexpr Reasons interrupted = 2;  ///< another thread needs this one

  /// Called by the thread's parker.
  Parker::Wake ring() noexcept override { return add(unparked); }
  /// The caller holds the mutex under which `use_wake_fd` is called. It carries out the result
  /// after it has released that mutex.
  [[nodiscard]] Parker::Wake interrupt() noexcept { return add(interrupted); }

  /// From now on a wake-up writes to this eventfd; -1: it wakes the futex.
  void use_wake_fd(int wake_fd) noexcept { wake_fd_.store(wake_fd, std::memory_order_relaxed); }

  /// While it is awake the thread polls `has_reason` itself, and nobody wakes it.
  void set_awake(bool awake) noexcept { awake_.store(awake, std::memory_order_relaxed); }

  [[nodiscard]] bool has_reason() const noexcept {
    return reasons_.load(std::memory_order_acquire) != 0;
  }

  /// The reasons since the last call.
  Reasons take_reasons() noexcept { return reasons_.exchange(0, std::memory_order_acquire); }

  /// Sleeps on the futex until there is a reason, at the latest until `until`.
  void sleep(const Clock& clock, Clock::time_point until) noexcept {
    wait_set_.sleep(reasons_, slot_, clock, until);
  }

 private:
  Parker::Wake add(Reasons reason) noexcept;

  FutexWaitSet& wait_set_;
  const FutexWaitSet::Slots slot_;
  std::atomic<Reasons> reasons_ = 0;
  std::atomic<int> wake_fd_ = -1;
  std::atomic<bool> awake_ = false;
};

}  // namespace latchkey::inline v1::detail::redis
