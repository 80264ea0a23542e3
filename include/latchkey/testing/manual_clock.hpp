// A clock that moves only when it is told to.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include <latchkey/clock.hpp>

namespace latchkey::testing {

/// Time for tests: leases end, waits time out and the watchdog renews when the test says so.
///
///     latchkey::testing::ManualClock clock;
///     auto locks = latchkey::Locks::connect("memory:", {.clock = &clock});
///     auto hold = locks.lock("order:42").acquire(latchkey::forever, 10s);
///     clock.advance(10s);
///     assert(hold.lost());
///
/// Thread-safe. It starts at the same time in each run. Threads that wait on it run on by
/// themselves once it has moved: await_sleepers() says when they are asleep again.
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
  /// Nobody waits on it any more.
  ~ManualClock() override = default;

  [[nodiscard]] time_point now() const noexcept override {
    return time_point(duration(now_.load(std::memory_order_acquire)));
  }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                  time_point deadline) override;

  /// Moves the time on and wakes every thread that waits, whatever its deadline: all have been
  /// notified when it returns. Not to be called with a mutex held that somebody waits with. A
  /// negative length is a std::invalid_argument: time does not go back.
  void advance(duration length);

  /// While what it returns lives, the calling thread does not wait: where it would sleep until some
  /// time, it is that time at once, for everybody. So a wait for a lock that nobody of the test
  /// gives back ends without a second thread:
  ///
  ///     const auto skipping = clock.skip_waits();
  ///     EXPECT_THROW(bank.deposit({42}, 10), latchkey::LockTimeout);  // 3 s by the clock
  ///
  /// A sleep without an end is slept. Not for a wait that somebody else is to end, another thread
  /// or, where a lease runs out, latchkey's timer: the time would be over before.
  SkippedWaits skip_waits() { return SkippedWaits(*this); }

  /// How many threads are inside wait_until now; those that an advance has woken do not count.
  [[nodiscard]] std::size_t sleepers() const;

  /// Blocks until there are at least `count` sleepers; false where `patience`, in real
  /// time, ends first.
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
  mutable std::mutex mutex_;
  std::condition_variable changed_;        // a sleeper came, or a waker is done with one
  std::vector<Waiter*> waiters_;           // and all that they point to: guarded by mutex_
  std::vector<std::thread::id> skipping_;  // guarded by mutex_
};

}  // namespace latchkey::testing
