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

class LockSpace;
class Reporter;
class ShardDriver;

/// The one thread of a space that renews and verifies leases, repeats releases and declares leases
/// over. It drives the backend while it waits. Thread-safe.
class LeaseTimer {
 public:
  LeaseTimer(ShardDriver& driver, DueTimes& due_times, Reporter& reporter, Clock& clock,
             Backend& backend) noexcept
      : driver_(driver),
        due_times_(due_times),
        reporter_(reporter),
        clock_(clock),
        backend_(backend) {}
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

  /// Joins the thread.
  void stop() noexcept;
  /// The thread, which runs, ends and deletes `space`, which nobody else uses any more.
  void delete_when_ended(LockSpace& space) noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  void forget_parent() LATCHKEY_FORK_HANDLER;

 private:
  void start(std::string_view key, LockType type);
  void run();
  void run_until_ending();
  void tick_due(Clock::time_point now);

  ShardDriver& driver_;
  DueTimes& due_times_;
  Reporter& reporter_;
  Clock& clock_;
  Backend& backend_;
  std::atomic<bool> running_{false};
  std::atomic<bool> ending_{false};
  SmallMutex mutex_;
  std::thread thread_ LATCHKEY_GUARDED_BY(mutex_);
  LockSpace* unused_ LATCHKEY_GUARDED_BY(mutex_) = nullptr;  ///< the space to delete
};

}  // namespace latchkey::inline v1::detail
