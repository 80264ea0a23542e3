// The READ and the WRITE lock of one key, with the interface of std::shared_mutex.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <utility>

#include <latchkey/lock.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Meets SharedTimedLockable: std::shared_lock takes the READ lock, std::unique_lock the WRITE
/// lock. As with Lock, copies are the same lock, and the unlocks never throw.
class ReadWriteLock {
 public:
  void lock() { write_.lock(); }
  bool try_lock() { return write_.try_lock(); }
  template <class Rep, class Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> wait) {
    return write_.try_lock_for(wait);
  }
  template <class Time, class Length>
  bool try_lock_until(std::chrono::time_point<Time, Length> until) {
    return write_.try_lock_until(until);
  }
  void unlock() noexcept { write_.unlock(); }

  void lock_shared() { read_.lock(); }
  bool try_lock_shared() { return read_.try_lock(); }
  template <class Rep, class Period>
  bool try_lock_shared_for(std::chrono::duration<Rep, Period> wait) {
    return read_.try_lock_for(wait);
  }
  template <class Time, class Length>
  bool try_lock_shared_until(std::chrono::time_point<Time, Length> until) {
    return read_.try_lock_until(until);
  }
  void unlock_shared() noexcept { read_.unlock(); }

  /// The two locks, for operations that only Lock has: waits, leases and holds.
  [[nodiscard]] Lock& read() noexcept { return read_; }
  [[nodiscard]] Lock& write() noexcept { return write_; }

 private:
  friend class Locks;
  ReadWriteLock(Lock read, Lock write) : read_(std::move(read)), write_(std::move(write)) {}

  Lock read_;
  Lock write_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
