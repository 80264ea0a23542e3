// A mutex of four bytes whose free case is inlined.
#pragma once

#include <atomic>
#include <cstdint>

namespace latchkey::detail {

/// For the many mutexes of a sharded table, each held for less than a microsecond. Lockable.
///
/// std::mutex would do but for two things: a process that forks holds all shards at once, and
/// ThreadSanitizer's deadlock detector gives up at 64 mutexes held; and an uncontended lock and
/// unlock are two calls. Waiters sleep in the kernel; there is no fairness.
class SmallMutex {
 public:
  SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;

  void lock() noexcept {
    int seen = unlocked;
    if (!state_.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
      lock_slowly();
    }
  }

  bool try_lock() noexcept {
    int seen = unlocked;
    return state_.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  void unlock() noexcept {
    if (state_.exchange(unlocked, std::memory_order_release) == contended) state_.notify_one();
  }

 private:
  static constexpr int unlocked = 0, locked = 1, contended = 2;
  static constexpr int attempts_before_sleep = 40;

  void lock_slowly() noexcept {
    // What is held for less than a microsecond is mostly free again before a sleep would begin.
    for (int attempt = 0; attempt < attempts_before_sleep; ++attempt) {
      if (state_.load(std::memory_order_relaxed) == unlocked && try_lock()) return;
    }
    // Whoever sleeps, or slept, takes the mutex as contended: others may sleep still.
    while (state_.exchange(contended, std::memory_order_acquire) != unlocked) {
      state_.wait(contended, std::memory_order_relaxed);
    }
  }

  std::atomic<int> state_ = unlocked;
};

}  // namespace latchkey::detail
