// The thread on which user code is told things.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include <latchkey/listener.hpp>

namespace latchkey::detail {

/// Tells listeners and requests stops, one thing at a time, on a thread of its own that starts with
/// the first of them. Thread-safe; post never blocks and never calls user code.
class Notifier {
 public:
  explicit Notifier(Listener* listener);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  /// Delivers what is queued, then ends. From within a listener it does not wait for itself, and
  /// without a listener it waits for nobody: callbacks of stop tokens go on by themselves.
  ~Notifier();

  /// Dropped and counted where the queue is full, unless it is a loss or an error. False: the
  /// system gives no thread to tell it on; it stays queued until `has_thread` finds one.
  bool post(Event&& event) noexcept;
  bool post(std::stop_source&& stop) noexcept;
  /// So many events could not be made: they are counted with the dropped ones.
  void drop(std::size_t count) noexcept;

  /// False: something is queued, and there is still no thread to tell it on.
  bool has_thread() noexcept;

  /// Waits until all that is queued is told, at most so long in real time; from then on the
  /// listener is not called any more. From within a listener it does not wait.
  void finish(std::chrono::milliseconds patience);

  /// Waits until all that was posted before is told, at most so long in real time. False: it was
  /// not, or this is a call from within a listener.
  bool flush(std::chrono::milliseconds patience);

  // A fork: hold the queue still; then forget the parent's thread and queue in the child.
  void lock_for_fork() noexcept;
  void unlock_after_fork() noexcept;
  void forget_parent() noexcept;

 private:
  struct Queue;

  static void run(const std::shared_ptr<Queue>& queue, Listener* listener) noexcept;
  bool start_once() noexcept;

  Listener* listener_;
  std::shared_ptr<Queue> queue_;
  std::thread thread_;
  std::atomic<bool> lacks_thread_{false};
};

}  // namespace latchkey::detail
