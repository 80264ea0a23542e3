// Waiting for latches, and who is woken when one changes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <latchkey/backend.hpp>
#include <latchkey/error.hpp>
#include <latchkey/wait.hpp>

#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/async/async_observer.hpp"
#include "locks/latch/latch_wait.hpp"

namespace latchkey::inline v1::detail {

class AsyncLatchWait;
class LockSpace;
struct DirectRequest;

/// The waits for latches of one space. Thread-safe.
///
/// Carries out what each LatchWait decides: on the waiting thread, or on the timer thread for a
/// wait that no thread waits for. The waits of one key share a subscription, which the last of them
/// ends.
class LatchWaits final : private AsyncObserver {
 public:
  explicit LatchWaits(LockSpace& space) noexcept : space_(space) {}

  /// True: the count was zero within `length`. False: it was not. Throws BackendUnavailable,
  /// BackendRefused and Closed.
  bool wait(std::string_view key, Wait length);

  // --- waits that no thread waits for ---
  /// `added` is advanced by the timer thread until it has ended. Throws BackendUnavailable if there
  /// is no timer thread.
  void add(AsyncLatchWait& added);
  /// Has the timer thread advance all of them. On any thread.
  void call_timer() noexcept;
  /// Advances all of them. Called by the timer thread.
  void tick() noexcept;
  /// Ends the waits that are left, whose contexts have ended. Called after the end of the timer
  /// thread.
  void end_all() noexcept;
  /// Submits a request whose outcome calls the timer thread.
  void submit(DirectRequest& request);

  // --- what both kinds of wait do ---
  /// One wait in the list of those that are woken if their latch changes.
  struct Waiter {
    explicit Waiter(std::string_view its_key) noexcept : key(its_key) {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    virtual void wake() noexcept = 0;

    const std::string_view key;
    bool notified = false;  ///< guarded by the mutex of LatchWaits, as `next` is
    Waiter* next = nullptr;

   protected:
    ~Waiter() = default;
  };
  [[nodiscard]] LatchWait::Settings settings() const noexcept;
  /// Adds `waiter` to the list, before the subscription is requested.
  void enter(Waiter& waiter) noexcept;
  /// Takes `waiter` out of the list. Returns the unsubscribe that it has submitted if the waiter
  /// was the last of its key; null: it was not, or there is no memory, so that the subscription
  /// stays and wakes nobody.
  [[nodiscard]] std::unique_ptr<DirectRequest> leave(const Waiter& waiter) noexcept;
  /// Whether the waiter was notified since the last such call.
  [[nodiscard]] bool take_notification(Waiter& waiter) noexcept;
  /// Reports the reply to a read to `wait`. Throws BackendRefused.
  void on_count_reply(const DirectRequest& answered, LatchWait& wait);
  [[nodiscard]] bool is_closed() noexcept;

  // The sink's part.
  void notify(std::string_view key) noexcept;
  void notify_all() noexcept;
  /// From now on every wait ends as closed.
  void close() noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  /// Forgets the waits, in the child of a fork: they were those of the parent.
  void forget_parent() noexcept LATCHKEY_FORK_HANDLER {
    first_ = nullptr;
    first_async_ = nullptr;
    mutex_.unlock();
  }

 private:
  struct ThreadWaiter;
  struct Membership;

  void ended() noexcept override { call_timer(); }
  void read(std::string_view key, LatchWait& wait);
  void subscribe(ThreadWaiter& waiter, Clock::time_point until);
  void unsubscribe(ThreadWaiter& waiter) noexcept;
  void sleep(ThreadWaiter& waiter, Clock::time_point until);
  [[nodiscard]] bool is_awaited(std::string_view key) const noexcept LATCHKEY_REQUIRES(mutex_);
  void remove(const Waiter& waiter) noexcept LATCHKEY_REQUIRES(mutex_);
  void remove_async(AsyncLatchWait& ended) noexcept;
  [[nodiscard]] AsyncLatchWait* first_async() noexcept;
  void throw_if_closed(std::string_view key);

  LockSpace& space_;
  SmallMutex mutex_;
  Waiter* first_ LATCHKEY_GUARDED_BY(mutex_) = nullptr;
  AsyncLatchWait* first_async_ LATCHKEY_GUARDED_BY(mutex_) = nullptr;
  bool closed_ LATCHKEY_GUARDED_BY(mutex_) = false;
};

}  // namespace latchkey::inline v1::detail
