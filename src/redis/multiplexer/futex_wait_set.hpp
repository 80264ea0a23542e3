// One futex on which all threads of a ConnectionMultiplexer sleep.
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

}  // namespace latchkey::inline v1::detail::redis
