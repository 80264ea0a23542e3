// The thread on which user code is told things.
#pragma once

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
  /// Delivers what is queued, then ends. From within a listener it does not wait for itself.
  ~Notifier();

  /// Dropped and counted where the queue is full, unless it is a loss or an error.
  void post(Event&& event);
  void post(std::stop_source&& stop);

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
  void start_once();

  Listener* listener_;
  std::shared_ptr<Queue> queue_;
  std::thread thread_;
};

}  // namespace latchkey::detail
