// The system clock: CLOCK_BOOTTIME.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/clock.hpp>

#include <algorithm>
#include <ctime>

#include "core/never_destroyed.hpp"

namespace latchkey::inline v1 {
namespace {

Clock::time_point read(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return Clock::time_point(std::chrono::seconds(time.tv_sec) +
                           std::chrono::nanoseconds(time.tv_nsec));
}

class BootClock final : public Clock {
 public:
  time_point now() const noexcept override { return read(CLOCK_BOOTTIME); }

  // The coarse clock advances with every tick, and when the machine resumes from suspend. While it
  // does not advance, the last exact time that this thread read is less than a tick old. Reading
  // the coarse clock costs a tenth of now().
  time_point recent() const noexcept override {
    struct Reading {
      time_point tick, exact;
    };
    static constinit thread_local Reading last{};
    const time_point tick = read(CLOCK_MONOTONIC_COARSE);
    if (tick != last.tick) last = {tick, now()};
    return last.exact;
  }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                  time_point deadline) override {
    const duration left = deadline - now();
    if (left <= duration::zero()) return;
    // No condition variable waits on CLOCK_BOOTTIME. The steady clock stops while the machine is
    // suspended, so the waiter reads the boot clock every second: it is late by no more than that.
    const auto length = std::min<duration>(left, std::chrono::seconds(1));
    condition.wait_until(lock, std::chrono::steady_clock::now() + length);
  }
};

}  // namespace

std::chrono::system_clock::time_point Clock::wall() const noexcept {
  return std::chrono::system_clock::now();
}

Clock& Clock::system() noexcept {
  // Threads may read the time while static objects are destroyed.
  static detail::NeverDestroyed<BootClock> clock;
  return clock.get();
}

}  // namespace latchkey::inline v1
