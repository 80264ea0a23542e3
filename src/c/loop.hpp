// An event loop of the C interface, and its operations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/latchkey.h>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include <latchkey/locks.hpp>
#include <latchkey/loop_driver.hpp>

#include "core/file_descriptor.hpp"
#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/async/async_observer.hpp"
#include "locks/coordinator/intrusive_list.hpp"

namespace latchkey::inline v1::detail::c {
class OperationQueue;
}

/// One operation of a loop.
///
/// | stage     | meaning                                              | next stages          |
/// |-----------|------------------------------------------------------|----------------------|
/// | pending   | it has no result                                     | ended, abandoned     |
/// | ended     | it has a result, and waits for dispatch              | delivered, destroyed |
/// | delivered | dispatch has returned it                             | destroyed by finish  |
/// | abandoned | cancelled while it was pending: destroyed by its end | destroyed            |
struct latchkey_operation : protected latchkey::detail::AsyncObserver {
 public:
  enum class Stage : std::uint8_t { pending, ended, delivered, abandoned };

  explicit latchkey_operation(void* its_data) noexcept : data(its_data) {}
  latchkey_operation(const latchkey_operation&) = delete;
  latchkey_operation& operator=(const latchkey_operation&) = delete;
  virtual ~latchkey_operation() = default;

  /// False: it has ended. Throws: it was not started.
  virtual bool start() = 0;
  /// On the loop's thread. True: `ended` is not called any more.
  virtual bool cancel() noexcept { return false; }
  /// Takes the result, after the end: as latchkey_operation_finish, but throws errors.
  virtual int take(latchkey_hold** hold) = 0;
  /// Whether somebody has to drive the backend meanwhile.
  [[nodiscard]] virtual bool needs_backend() const noexcept { return true; }

  void* const data;

  // The part of the queue, guarded by its mutex:
  latchkey_operation* previous = nullptr;
  latchkey_operation* next = nullptr;
  Stage stage = Stage::pending;
  std::shared_ptr<latchkey::detail::c::OperationQueue> queue{};  ///< set before the start

 protected:
  [[nodiscard]] latchkey::detail::AsyncObserver& observer() noexcept { return *this; }
  void ended() noexcept override;
};

namespace latchkey::inline v1::detail::c {

/// The operations of one loop. Outlives the loop as long as there are abandoned ones. Thread-safe.
class OperationQueue {
 public:
  /// Throws std::bad_alloc if the system has no descriptor left.
  OperationQueue();

  /// Readable if an operation has ended, or after `signal`.
  [[nodiscard]] int descriptor() const noexcept { return signal_.get(); }
  void signal() noexcept;
  void clear_signal() noexcept;
  /// How many of its operations need the backend.
  [[nodiscard]] std::size_t users() const noexcept;

  void add(latchkey_operation& operation) noexcept;
  /// By the operation, on any thread: it may be destroyed.
  void end(latchkey_operation& operation) noexcept;
  /// The next operation that has ended is delivered; null: there is none.
  [[nodiscard]] latchkey_operation* deliver() noexcept;
  /// Removes an operation that has not been started, or was delivered.
  void remove(latchkey_operation& operation) noexcept;
  /// Cancels it, and destroys it now or when it ends.
  void abandon(latchkey_operation& operation) noexcept;
  void abandon_all() noexcept;

 private:
  [[nodiscard]] IntrusiveList<latchkey_operation>& list_of(const latchkey_operation& operation)
      LATCHKEY_REQUIRES(mutex_);

  const FileDescriptor signal_;
  mutable Mutex mutex_;
  IntrusiveList<latchkey_operation> pending_ LATCHKEY_GUARDED_BY(mutex_);
  IntrusiveList<latchkey_operation> ended_ LATCHKEY_GUARDED_BY(mutex_);
  IntrusiveList<latchkey_operation> delivered_ LATCHKEY_GUARDED_BY(mutex_);
  std::size_t users_ LATCHKEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace latchkey::inline v1::detail::c

/// Waits for the queue and, as long as there are operations that need it, for the backend.
struct latchkey_loop {
 public:
  /// Throws std::bad_alloc, and std::invalid_argument if the attempts of the backend block.
  explicit latchkey_loop(const latchkey::Locks& its_locks);
  latchkey_loop(const latchkey_loop&) = delete;
  latchkey_loop& operator=(const latchkey_loop&) = delete;
  /// In the child of a fork, what the parent's loop waits for stays as it is.
  ~latchkey_loop();

  [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
  /// Throws what the operation throws if it cannot be started.
  latchkey_operation* start(std::unique_ptr<latchkey_operation> operation);
  [[nodiscard]] latchkey_operation* dispatch() noexcept;

  const latchkey::Locks locks;

 private:
  [[nodiscard]] bool is_inherited() const noexcept;
  void join() noexcept;
  void leave() noexcept;
  void drive() noexcept;
  void end_round() noexcept;

  const pid_t process_;
  const std::shared_ptr<latchkey::detail::c::OperationQueue> queue_;
  const latchkey::detail::FileDescriptor epoll_;
  std::unique_ptr<latchkey::LoopDriver> driver_;  ///< null: the timer thread drives the backend
  bool joined_ = false;
  bool has_driven_ = false;  ///< since dispatch has returned null
};
