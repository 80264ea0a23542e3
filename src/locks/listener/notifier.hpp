// The thread that calls the listener.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <thread>

#include <latchkey/listener.hpp>
#include <latchkey/options.hpp>

#include "core/thread_annotations.hpp"

namespace latchkey::inline v1::detail {

/// Delivers events to a listener and requests stops, one at a time, on a thread of its own that
/// starts with the first of them. Thread-safe; post never blocks and never calls user code.
class Notifier {
 public:
  struct State;

  explicit Notifier(SharedOrBorrowed<Listener> listener);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  /// Delivers what is queued and joins the thread. Called from within the listener, it detaches the
  /// thread instead; so it does without a listener, since callbacks of stop tokens may take long.
  ~Notifier();

  /// Drops and counts a routine event if the queue is full. False: the system has no thread to
  /// deliver it on; it stays queued until `has_thread` finds one.
  bool post(Event&& event) noexcept;
  bool post(std::stop_source&& stop) noexcept;
  /// Counts `count` events that could not be made with the dropped ones.
  void drop(std::size_t count) noexcept;

  /// Starts the thread if that has failed before. False: something is queued, and there is still no
  /// thread to deliver it on.
  bool has_thread() noexcept;

  /// Waits until all that is queued is delivered, at most for `patience` in real time. From then on
  /// the listener is not called any more. Called from within the listener, it does not wait.
  void finish(std::chrono::milliseconds patience);

  /// Waits until all that was posted before is delivered, at most for `patience` in real time.
  /// False: it was not, or this is a call from within the listener.
  bool flush(std::chrono::milliseconds patience);

  /// The state of the notifier, if it may call `listener` or, if that is null, any listener. The
  /// state may be used after the notifier has been destroyed.
  [[nodiscard]] std::shared_ptr<State> state_calling(const Listener* listener) const noexcept;
  /// The listener is being destroyed: waits for a call that is under way, and makes no other one.
  static void stop_calling(State& state) noexcept;
  /// Does what `finish` does, with the state of a notifier that may be destroyed meanwhile.
  static void finish(State& state, std::chrono::milliseconds patience) noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER;
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER;
  void forget_parent() noexcept LATCHKEY_FORK_HANDLER;

 private:
  static void run(State& state) noexcept;
  bool ensure_thread() noexcept;
  [[nodiscard]] bool within_listener() const noexcept {
    return thread_.get_id() == std::this_thread::get_id();
  }

  SharedOrBorrowed<Listener> listener_;
  std::shared_ptr<State> state_;  ///< the thread has a share in it, and may outlive this
  std::thread thread_;            ///< guarded by the mutex of `state_`
  std::atomic<bool> lacks_thread_{false};
};

}  // namespace latchkey::inline v1::detail
