// Time limits of tests on a machine that is busy with other work.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

namespace latchkey::tests {

/// Adds up for how long this machine was too busy, or stopped: a thread that sleeps for 5 ms at a
/// time measures by how much it is woken too late. A test adds the total to a time limit, which so
/// means the same on a machine that is free and on one that is not. Thread-safe.
class Stalls {
 public:
  Stalls() = default;
  Stalls(const Stalls&) = delete;
  Stalls& operator=(const Stalls&) = delete;
  ~Stalls() = default;

  /// Since the construction.
  [[nodiscard]] std::chrono::nanoseconds total() const {
    const std::lock_guard lock(mutex_);
    // The thread may be late at this moment, too.
    return total_ + std::max(Clock::now() - next_wake_, Clock::duration::zero());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds tick{5};

  void measure(const std::stop_token& stop) {
    Clock::time_point wake = next_wake_;  // only this thread changes it
    while (!stop.stop_requested()) {
      std::this_thread::sleep_until(wake);  // sleeps: a stall is a sleep that takes too long
      const std::lock_guard lock(mutex_);
      const auto woken = Clock::now();
      total_ += woken - wake;
      next_wake_ = wake = woken + tick;
    }
  }

  mutable std::mutex mutex_;
  Clock::duration total_{};                            // guarded by mutex_
  Clock::time_point next_wake_ = Clock::now() + tick;  // guarded by mutex_
  std::jthread sleeper_{[this](const std::stop_token& stop) { measure(stop); }};
};

}  // namespace latchkey::tests
