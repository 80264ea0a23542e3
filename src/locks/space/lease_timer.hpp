// The timer thread.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <string_view>
#include <thread>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lock_type.hpp>

#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/space/due_times.hpp"

namespace latchkey::inline v1::detail {

class LatchWaits;
class LockSpace;
class Reporter;
class ShardDriver;

/// The one thread of a space that renews and verifies leases, repeats releases, declares leases
/// over, and advances what no other thread waits for. It drives the backend while it waits.
/// Thread-safe.
class LeaseTimer {
 public:
  /// The parts that the timer thread works for. All of them must outlive this.
  struct Surroundings {
    ShardDriver& driver;
    DueTimes& due_times;
    LatchWaits& latch_waits;
    Reporter& reporter;
    Clock& clock;
    Backend& backend;
    const LockSpace& space;  ///< describes locks for errors
  };

  explicit LeaseTimer(const Surroundings& surroundings) noexcept : to_(surroundings) {}
  LeaseTimer(const LeaseTimer&) = delete;
  LeaseTimer& operator=(const LeaseTimer&) = delete;
  ~LeaseTimer() { stop(); }

  /// Called with no mutex held before `key` is acquired: without the timer thread nobody would
  /// renew the hold or report its loss. Throws BackendUnavailable if no thread can be started; each
  /// acquire tries again.
  void require_running(std::string_view key, LockType type) {
    if (!running_.load(std::memory_order_acquire)) [[unlikely]] {
      start(key, type);
    }
  }

  /// Ends the thread, and joins it.
  void stop() noexcept;
  /// Has the thread, which runs, end and delete `space`, which nobody else uses any more.
  void delete_when_ended(LockSpace& space) noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  void forget_parent() LATCHKEY_FORK_HANDLER;

 private:
  void start(std::string_view key, LockType type);
  void run();
  void run_until_ending();
  void tick_due(Clock::time_point now);

  Surroundings to_;
  std::atomic<bool> running_{false};
  std::atomic<bool> ending_{false};
  SmallMutex mutex_;
  std::thread thread_ LATCHKEY_GUARDED_BY(mutex_);
  LockSpace* unused_ LATCHKEY_GUARDED_BY(mutex_) = nullptr;  ///< the space to delete
};

}  // namespace latchkey::inline v1::detail
