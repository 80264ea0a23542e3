// std::mutex and a scoped lock, annotated for clang's thread safety analysis.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>

#include "core/thread_annotations.hpp"

namespace latchkey::inline v1::detail {

/// std::mutex, as a capability. Lockable.
class LATCHKEY_CAPABILITY("mutex") Mutex {
 public:
  void lock() LATCHKEY_ACQUIRE() { mutex_.lock(); }
  bool try_lock() LATCHKEY_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() LATCHKEY_RELEASE() { mutex_.unlock(); }

  /// For a std::condition_variable, which waits with a std::unique_lock of this.
  std::mutex& native() noexcept LATCHKEY_RETURN_CAPABILITY(this) { return mutex_; }

 private:
  std::mutex mutex_;
};

/// Locks a Mutex or a SmallMutex. Like std::unique_lock, it may be unlocked and locked again.
template <class M>
class LATCHKEY_SCOPED_CAPABILITY ScopedLock {
 public:
  explicit ScopedLock(M& mutex) LATCHKEY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  /// Adopts a mutex that the caller has locked already.
  ScopedLock(M& mutex, std::adopt_lock_t /*adopt*/) LATCHKEY_REQUIRES(mutex) : mutex_(mutex) {}
  ScopedLock(const ScopedLock&) = delete;
  ScopedLock& operator=(const ScopedLock&) = delete;
  ~ScopedLock() LATCHKEY_RELEASE() {
    if (held_) mutex_.unlock();
  }

  void unlock() LATCHKEY_RELEASE() {
    held_ = false;
    mutex_.unlock();
  }
  void lock() LATCHKEY_ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }

 private:
  M& mutex_;
  bool held_ = true;
};

/// Unlocks a mutex that the caller holds, and locks it again at the end of the scope, also after an
/// exception.
template <class M>
class LATCHKEY_SCOPED_CAPABILITY ScopedUnlock {
 public:
  explicit ScopedUnlock(M& mutex) LATCHKEY_RELEASE(mutex) : mutex_(mutex) { mutex_.unlock(); }
  ScopedUnlock(const ScopedUnlock&) = delete;
  ScopedUnlock& operator=(const ScopedUnlock&) = delete;
  ~ScopedUnlock() LATCHKEY_RELEASE() { mutex_.lock(); }

 private:
  M& mutex_;
};

}  // namespace latchkey::inline v1::detail
