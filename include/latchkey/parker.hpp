// Parker: blocks one thread until another thread wakes it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <latchkey/clock.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// One thread parks, any thread unparks. An unpark before the park is remembered, so none is lost.
///
/// A backend that must block elsewhere (for example in poll(2)) installs an Alarm: unpark then
/// rings the alarm instead. There are no spurious returns, but a thread uses one parker for
/// everything, so a return may belong to an earlier use: the caller checks its own condition again.
class Parker {
 public:
  /// The step that remains to wake a thread: a FUTEX_WAKE_BITSET. Null: nothing remains.
  struct Wake {
    std::atomic<std::uint32_t>* word = nullptr;
    std::uint32_t bits = 0;

    /// The word may be destroyed already: only its address is used. A thread that blocks on a new
    /// futex at the same address then wakes spuriously, which all futex users must handle.
    void carry_out() const noexcept;
  };

  /// Wakes a thread that does not block in its parker.
  class Alarm {
   public:
    /// Called with the parker's mutex held. A thread that blocks on a futex is woken after the
    /// mutex is unlocked, because it would block on the mutex otherwise: its futex word is returned
    /// for that.
    virtual Wake ring() noexcept = 0;

   protected:
    ~Alarm() = default;
  };

  Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Blocks until an unpark or `deadline`; returns at once if an unpark came first. Returns true if
  /// unparked. For the parking thread only.
  bool park_until(Clock& clock, Clock::time_point deadline);

  /// Ends the current or the next park. Any thread may call it; it never blocks for long.
  void unpark() noexcept;

  /// How often unpark was called so far. A backend that drives several others compares this number
  /// before and after, because each of them may consume an unpark.
  [[nodiscard]] std::uint64_t unparks() const noexcept {
    return unparks_.load(std::memory_order_acquire);
  }

  /// Makes unpark ring `alarm` from now on. Returns false if an unpark came first: the caller must
  /// not block (the unpark is consumed). For the parking thread only, which must disarm before it
  /// reuses the alarm's object.
  bool arm(Alarm& alarm) noexcept;

  /// Ends the use of the alarm. Returns true if the alarm was rung.
  bool disarm() noexcept;

  /// The calling thread's parker. Parkers are reused by later threads and never destroyed, so a
  /// late unpark is harmless. Throws std::bad_alloc if the thread has no parker yet.
  static Parker& mine();
  /// Like mine(); null if the thread has no parker yet.
  static Parker* mine_if_any() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable awake_;
  Alarm* alarm_ = nullptr;
  bool unparked_ = false;
  std::atomic<std::uint64_t> unparks_{0};
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
