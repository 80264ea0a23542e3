// The manual clock: sleeping and waking.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/testing/manual_clock.hpp>

#include <algorithm>
#include <stdexcept>

namespace latchkey::inline v1::testing {

// Not zero, so that code that confuses a default time with "now" fails. A thousand days, so that
// tests may subtract without reaching negative times.
ManualClock::ManualClock() noexcept
    : now_(duration(std::chrono::hours(24'000)).count()), wall_ahead_(0) {
  set_wall(std::chrono::sys_days(std::chrono::year(2024) / 1 / 1));
}

std::chrono::system_clock::time_point ManualClock::wall() const noexcept {
  return std::chrono::system_clock::time_point(
      now().time_since_epoch() + duration(wall_ahead_.load(std::memory_order_acquire)));
}

void ManualClock::set_wall(std::chrono::system_clock::time_point time) noexcept {
  const duration ahead = time.time_since_epoch() - now().time_since_epoch();
  wall_ahead_.store(ahead.count(), std::memory_order_release);
}

void ManualClock::wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                             time_point deadline) {
  if (deadline != never() && this_thread_skips()) {
    // advance() may notify this condition and lock this mutex.
    lock.unlock();
    advance(std::max(deadline - now(), duration::zero()));
    lock.lock();
    return;
  }
  Waiter me{lock.mutex(), &condition};
  {
    const std::lock_guard guard(mutex_);
    if (now() >= deadline) return;
    waiters_.push_back(&me);
    changed_.notify_all();
  }
  // No wake-up is lost: an advance from now on finds this waiter and locks *me.mutex before it
  // notifies, and this thread unlocks that mutex only when it sleeps.
  condition.wait(lock);
  // An advance may wait for that mutex, so unlock it before waiting for the advance.
  lock.unlock();
  {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [&] { return me.wakers == 0; });
    std::erase(waiters_, &me);
  }
  lock.lock();
}

void ManualClock::advance(duration length) {
  if (length < duration::zero()) throw std::invalid_argument("time does not go back");
  std::vector<Waiter*> woken;
  {
    const std::lock_guard guard(mutex_);
    woken = waiters_;
    now_.fetch_add(length.count(), std::memory_order_acq_rel);
    for (Waiter* waiter : woken) {
      ++waiter->wakers;
      waiter->woken = true;
    }
  }
  for (const Waiter* waiter : woken) {
    const std::lock_guard asleep(*waiter->mutex);
    waiter->condition->notify_all();
  }
  const std::lock_guard guard(mutex_);
  for (Waiter* waiter : woken) --waiter->wakers;
  changed_.notify_all();
}

ManualClock::SkippedWaits::SkippedWaits(ManualClock& clock) : clock_(clock) {
  const std::lock_guard guard(clock_.mutex_);
  clock_.skipping_.push_back(std::this_thread::get_id());
}

ManualClock::SkippedWaits::~SkippedWaits() {
  const std::lock_guard guard(clock_.mutex_);
  auto& threads = clock_.skipping_;
  threads.erase(std::find(threads.begin(), threads.end(), std::this_thread::get_id()));
}

bool ManualClock::this_thread_skips() const {
  const std::lock_guard guard(mutex_);
  return std::find(skipping_.begin(), skipping_.end(), std::this_thread::get_id()) !=
         skipping_.end();
}

std::size_t ManualClock::asleep() const noexcept {
  const auto still = [](const Waiter* waiter) { return !waiter->woken; };
  return static_cast<std::size_t>(std::count_if(waiters_.begin(), waiters_.end(), still));
}

std::size_t ManualClock::sleepers() const {
  const std::lock_guard guard(mutex_);
  return asleep();
}

bool ManualClock::await_sleepers(std::size_t count, std::chrono::milliseconds patience) {
  std::unique_lock guard(mutex_);
  return changed_.wait_for(guard, patience, [&] { return asleep() >= count; });
}

}  // namespace latchkey::inline v1::testing
