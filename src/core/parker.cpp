// Parking and unparking a thread.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/parker.hpp>

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/at_fork.hpp"
#include "core/futex.hpp"
#include "core/never_destroyed.hpp"
#include "core/thread_annotations.hpp"

namespace latchkey::inline v1 {

namespace {

/// Wakes a thread that sleeps by the system's clock. A condition variable would have to be notified
/// with the parker's mutex held, for the parker may be gone right after, and the woken thread would
/// block on that mutex: two more context switches.
class FutexAlarm final : public Parker::Alarm {
 public:
  Parker::Wake ring() noexcept override {
    unparked_.store(1, std::memory_order_release);
    return {&unparked_, all_bits};
  }

  /// No futex waits on CLOCK_BOOTTIME, and other clocks stop while the machine is suspended: the
  /// boot clock is read every second.
  void sleep_until(const Clock& clock, Clock::time_point deadline) noexcept {
    constexpr Clock::duration longest = std::chrono::seconds(1);
    while (unparked_.load(std::memory_order_acquire) == 0) {
      const Clock::time_point now = clock.now();
      if (deadline <= now) return;
      const Clock::duration left = std::min(deadline - now, longest);
      const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
      const timespec length{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
      detail::futex_wait(unparked_, 0, &length);
    }
  }

 private:
  static constexpr std::uint32_t all_bits = ~std::uint32_t{0};

  detail::FutexWord unparked_{0};
};

}  // namespace

bool Parker::park_until(Clock& clock, Clock::time_point deadline) {
  if (&clock == &Clock::system()) {
    FutexAlarm alarm;
    if (!arm(alarm)) return true;
    alarm.sleep_until(clock, deadline);
    return disarm();
  }
  std::unique_lock lock(mutex_);
  while (!unparked_ && clock.now() < deadline) clock.wait_until(lock, awake_, deadline);
  return std::exchange(unparked_, false);
}

void Parker::unpark() noexcept {
  Wake wake;
  {
    const std::lock_guard lock(mutex_);
    unparked_ = true;
    unparks_.fetch_add(1, std::memory_order_release);
    if (alarm_ != nullptr) {
      wake = alarm_->ring();
    } else {
      // With the mutex held: the parked thread may end right after, and its parker with it.
      awake_.notify_one();
    }
  }
  wake.carry_out();
}

void Parker::Wake::carry_out() const noexcept {
  if (word != nullptr) detail::futex_wake_bits(*word, bits);
}

bool Parker::arm(Alarm& alarm) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::exchange(unparked_, false)) return false;
  alarm_ = &alarm;
  return true;
}

bool Parker::disarm() noexcept {
  const std::lock_guard lock(mutex_);
  alarm_ = nullptr;
  return std::exchange(unparked_, false);
}

namespace {

constinit thread_local Parker* borrowed = nullptr;

void give_parker_back(void* parker);

/// The parkers of threads that have ended, for reuse by new threads.
class Spares final : private detail::ForkParticipant {
 public:
  static Spares& all() {
    // Never destroyed: threads may end after static objects are destroyed.
    static detail::NeverDestroyed<Spares> made;
    return made.get();
  }

  Parker& take() {
    Parker* parker = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (parkers_.empty()) {
        parkers_.reserve(made_ + 1);  // giving back never allocates
        parker = new Parker;
        ++made_;
      } else {
        parker = parkers_.back();
        parkers_.pop_back();
      }
    }
    if (::pthread_setspecific(at_thread_end_, parker) != 0) {
      give_back(parker);
      throw std::bad_alloc();
    }
    return *parker;
  }

  void give_back(Parker* parker) noexcept {
    const std::lock_guard lock(mutex_);
    parkers_.push_back(parker);
  }

 private:
  friend class detail::NeverDestroyed<Spares>;
  Spares() {
    // The destructors of pthread keys run after those of thread_local objects, which may still
    // lock.
    if (::pthread_key_create(&at_thread_end_, give_parker_back) != 0) throw std::bad_alloc();
    register_fork_participant(detail::ForkLevel::core, *this);
  }

  void prepare() noexcept override LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void parent() noexcept override LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  // A thread of the parent may have been unparking any of these parkers during the fork, so the
  // child uses none of them again.
  void child() noexcept override LATCHKEY_FORK_HANDLER {
    left_behind_.insert(left_behind_.end(), parkers_.begin(), parkers_.end());
    parkers_.clear();
    if (borrowed != nullptr) left_behind_.push_back(std::exchange(borrowed, nullptr));
    ::pthread_setspecific(at_thread_end_, nullptr);
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<Parker*> parkers_;
  std::vector<Parker*> left_behind_;
  std::size_t made_ = 0;
  pthread_key_t at_thread_end_{};
};

void give_parker_back(void* parker) {
  borrowed = nullptr;
  Spares::all().give_back(static_cast<Parker*>(parker));
}

}  // namespace

Parker& Parker::mine() {
  if (borrowed == nullptr) borrowed = &Spares::all().take();
  return *borrowed;
}

Parker* Parker::mine_if_any() noexcept { return borrowed; }

}  // namespace latchkey::inline v1
