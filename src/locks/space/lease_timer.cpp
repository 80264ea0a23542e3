// The loop of the timer thread.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/lease_timer.hpp"
#include "core/sanitizer_pause.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <latchkey/error.hpp>

#include "core/mutex.hpp"
#include "locks/latch/latch_waits.hpp"
#include "locks/listener/reporter.hpp"
#include "locks/space/leak_intentionally.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

void LeaseTimer::start(std::string_view key, LockType type) {
  try {
    const ScopedLock lock(mutex_);
    if (running_.load(std::memory_order_relaxed)) return;
    thread_ = std::thread([this] { run(); });
    running_.store(true, std::memory_order_release);
  } catch (const std::system_error& error) {
    throw BackendUnavailable(
        to_.space.site_of(key, type),
        "nothing was requested, because the thread that renews locks cannot be created (" +
            error.code().message() +
            "): raise the limit on threads (ulimit -u, the cgroup's pids.max) or use fewer");
  }
}

void LeaseTimer::stop() noexcept {
  ending_.store(true);
  to_.due_times.wake();
  std::thread ended;
  {
    const ScopedLock lock(mutex_);
    ended = std::move(thread_);
  }
  if (ended.joinable()) ended.join();
}

// The mutex is unlocked before the thread can delete the space, and this timer with it.
void LeaseTimer::delete_when_ended(LockSpace& space) noexcept {
  const ScopedLock lock(mutex_);
  unused_ = &space;
  ending_.store(true);
  to_.due_times.wake();
}

void LeaseTimer::run() {
  const SanitizerPause pause;
  run_until_ending();
  LockSpace* unused = nullptr;
  {
    const ScopedLock lock(mutex_);
    unused = unused_;
    if (unused != nullptr) thread_.detach();
  }
  delete unused;
}

void LeaseTimer::run_until_ending() {
  // How often the notifier thread is tried anew if it could not be started.
  constexpr std::chrono::milliseconds thread_pause{500};
  to_.due_times.wait_for_work();
  while (!ending_.load()) {
    const Clock::time_point now = to_.clock.now();
    tick_due(now);
    const Clock::time_point next = to_.due_times.prepare_sleep();
    if (next <= now) continue;
    to_.driver.drive(to_.due_times.parker(),
                     to_.reporter.has_thread() ? next : std::min(next, later(now, thread_pause)));
  }
}

// Renewals that are due at the same time are sent together.
void LeaseTimer::tick_due(Clock::time_point now) {
  if (to_.due_times.is_due(DueTimes::waits_group, now)) {
    to_.due_times.clear(DueTimes::waits_group);
    to_.latch_waits.tick();
  }
  to_.backend.cork();
  for (std::size_t group = 0; group < DueTimes::groups; ++group) {
    if (to_.due_times.is_due(group, now)) to_.driver.tick_due(group, now);
  }
  to_.backend.uncork();
}

// The parent's thread does not exist in the child: there is nothing to join.
void LeaseTimer::forget_parent() {
  leak_intentionally(new std::thread(std::move(thread_)));
  running_.store(false);
  mutex_.unlock();
}

}  // namespace latchkey::inline v1::detail
