// A clock that moves only when a test advances it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::testing {

/// Time for tests: leases expire, waits time out and the watchdog renews when the test advances it.
///
///     latchkey::testing::ManualClock clock;
///     auto locks = latchkey::Locks::connect("memory:", {.clock = &clock});
///     auto hold = locks.lock("order:42").acquire(latchkey::forever, 10s);
///     clock.advance(10s);
///     assert(hold.lost());
///
/// Thread-safe. It starts at the same time in each run. Threads that wait on it continue on their
/// own after it has moved; await_sleepers() waits until they sleep again.
class ManualClock final : public Clock {
 public:
  /// See skip_waits.
  class [[nodiscard]] SkippedWaits {
   public:
    explicit SkippedWaits(ManualClock& clock);
    SkippedWaits(const SkippedWaits&) = delete;
    SkippedWaits& operator=(const SkippedWaits&) = delete;
    ~SkippedWaits();

   private:
    ManualClock& clock_;
  };

  ManualClock() noexcept;
  /// No thread may wait on it any more.
  ~ManualClock() override = default;

  [[nodiscard]] time_point now() const noexcept override {
    return time_point(duration(now_.load(std::memory_order_acquire)));
  }

  /// Advances with now(). Begins at 2024-01-01T00:00:00Z.
  [[nodiscard]] std::chrono::system_clock::time_point wall() const noexcept override;

  /// Sets the time of day and leaves now() as it is: the clock was wrong, or somebody set it.
  void set_wall(std::chrono::system_clock::time_point time) noexcept;

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                  time_point deadline) override;

  /// Advances the time and wakes every thread that waits, whatever its deadline. All have been
  /// notified when it returns. Do not call it with a mutex locked that a thread waits with. Throws
  /// std::invalid_argument if `length` is negative.
  void advance(duration length);

  /// While the returned object lives, the calling thread does not wait: instead of sleeping until a
  /// time it advances the clock to that time, for all threads. So a wait for a lock that nobody
  /// releases ends without a second thread:
  ///
  ///     const auto skipping = clock.skip_waits();
  ///     EXPECT_THROW(bank.deposit({42}, 10), latchkey::LockTimeout);  // 3 s by the clock
  ///
  /// A wait without a deadline still blocks. Do not use this for a wait that another thread ends,
  /// such as latchkey's timer thread when a lease expires: the deadline would pass first.
  SkippedWaits skip_waits() { return SkippedWaits(*this); }

  /// How many threads are inside wait_until and have not been woken by an advance.
  [[nodiscard]] std::size_t sleepers() const;

  /// Blocks until there are at least `count` sleepers. False if `patience`, in real time, ends
  /// first.
  bool await_sleepers(std::size_t count,
                      std::chrono::milliseconds patience = std::chrono::seconds(10));

 private:
  struct Waiter {
    std::mutex* mutex;
    std::condition_variable* condition;
    int wakers = 0;  // advances that still use the two
    bool woken = false;
  };

  [[nodiscard]] std::size_t asleep() const noexcept;
  [[nodiscard]] bool this_thread_skips() const;

  std::atomic<rep> now_;
  std::atomic<rep> wall_ahead_;  // wall() minus now(), both since their origins
  mutable std::mutex mutex_;
  std::condition_variable changed_;        // a sleeper was added, or a waker has finished
  std::vector<Waiter*> waiters_;           // they and their targets are guarded by mutex_
  std::vector<std::thread::id> skipping_;  // guarded by mutex_
};

}  // namespace latchkey::inline v1::testing
