// The thread that calls the listener.
// SPDX-License-Identifier: BSL-1.0
#include "locks/listener/notifier.hpp"
#include "core/sanitizer_pause.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "core/mutex.hpp"
#include "locks/listener/event_queue.hpp"
#include "locks/space/leak_intentionally.hpp"

namespace latchkey::inline v1::detail {

/// The state that the notifier shares with its thread.
struct Notifier::State {
  explicit State(Listener* to_call) : listener(to_call) {}

  Mutex mutex;
  std::condition_variable filled, delivered;
  EventQueue queue LATCHKEY_GUARDED_BY(mutex);
  std::uint64_t deliveries LATCHKEY_GUARDED_BY(mutex) = 0;
  std::size_t flushing LATCHKEY_GUARDED_BY(mutex) = 0;  ///< threads that wait for each delivery
  bool started LATCHKEY_GUARDED_BY(mutex) = false;
  bool delivering LATCHKEY_GUARDED_BY(mutex) = false;  ///< something that was taken off the queue
  bool ending LATCHKEY_GUARDED_BY(mutex) = false;
  bool silent LATCHKEY_GUARDED_BY(mutex) = false;       ///< the listener is not called any more
  Listener* listener LATCHKEY_GUARDED_BY(mutex);        ///< null: none, or it has been destroyed
  std::thread::id thread LATCHKEY_GUARDED_BY(mutex){};  ///< the one that delivers

  [[nodiscard]] bool idle() const noexcept LATCHKEY_REQUIRES(mutex) {
    return queue.empty() && !delivering;
  }

  /// Waits for work. False: the notifier ends, and nothing is left.
  bool wait_for_item() LATCHKEY_REQUIRES(mutex) {
    if (!queue.has_items()) queue.note_dropped();
    std::unique_lock lock(mutex.native(), std::adopt_lock);
    while (queue.empty() && !ending) filled.wait(lock);
    static_cast<void>(lock.release());
    if (queue.empty()) queue.note_dropped();  // it ends
    return !queue.empty();
  }

  /// Waits until `done()`, at most for `patience`. False: the time is over.
  template <class Done>
  bool wait_for_delivery(std::chrono::milliseconds patience, Done&& done) LATCHKEY_REQUIRES(mutex) {
    std::unique_lock lock(mutex.native(), std::adopt_lock);
    const bool in_time = delivered.wait_for(lock, patience, done);
    static_cast<void>(lock.release());
    return in_time;
  }
};

Notifier::Notifier(SharedOrBorrowed<Listener> listener)
    : listener_(std::move(listener)), state_(std::make_shared<State>(listener_)) {}

Notifier::~Notifier() {
  static_cast<void>(has_thread());
  bool detaches = within_listener();
  {
    const ScopedLock lock(state_->mutex);
    state_->ending = true;
    // Without a listener, only callbacks of stop tokens are still to be called.
    detaches = detaches || (listener_ == nullptr && !state_->idle());
    // A listener within which this is destroyed may not live any longer.
    state_->silent = state_->silent || within_listener();
  }
  state_->filled.notify_all();
  if (!thread_.joinable()) return;
  if (detaches) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool Notifier::post(Event&& event) noexcept {
  if (listener_ == nullptr) return true;
  const ScopedLock lock(state_->mutex);
  if (state_->silent) return true;
  if (!state_->queue.push(std::move(event))) return !lacks_thread_;
  return ensure_thread();
}

bool Notifier::post(std::stop_source&& stop) noexcept {
  const ScopedLock lock(state_->mutex);
  state_->queue.push(std::move(stop));
  return ensure_thread();
}

void Notifier::drop(std::size_t count) noexcept {
  if (listener_ == nullptr) return;
  const ScopedLock lock(state_->mutex);
  state_->queue.count_unmade(count);
  state_->queue.note_dropped();
  static_cast<void>(ensure_thread());
}

bool Notifier::has_thread() noexcept {
  if (!lacks_thread_) return true;
  const ScopedLock lock(state_->mutex);
  return ensure_thread();
}

void Notifier::finish(std::chrono::milliseconds patience) {
  static_cast<void>(has_thread());
  finish(*state_, patience);
}

void Notifier::finish(State& state, std::chrono::milliseconds patience) noexcept {
  const ScopedLock lock(state.mutex);
  if (state.started && state.thread != std::this_thread::get_id()) {
    state.wait_for_delivery(patience,
                            [&]() LATCHKEY_REQUIRES(state.mutex) { return state.idle(); });
  }
  state.silent = true;
}

std::shared_ptr<Notifier::State> Notifier::state_calling(const Listener* listener) const noexcept {
  const ScopedLock lock(state_->mutex);
  const bool calls = state_->listener != nullptr && !state_->silent;
  return calls && (listener == nullptr || state_->listener == listener) ? state_ : nullptr;
}

void Notifier::stop_calling(State& state) noexcept {
  const ScopedLock lock(state.mutex);
  state.listener = nullptr;
  if (state.thread == std::this_thread::get_id()) return;
  std::unique_lock waiting(state.mutex.native(), std::adopt_lock);
  ++state.flushing;
  state.delivered.wait(waiting, [&]() LATCHKEY_REQUIRES(state.mutex) { return !state.delivering; });
  --state.flushing;
  static_cast<void>(waiting.release());
}

bool Notifier::flush(std::chrono::milliseconds patience) {
  static_cast<void>(has_thread());
  State& state = *state_;
  const ScopedLock lock(state.mutex);
  if (state.idle()) return true;
  if (within_listener()) return false;
  const std::uint64_t all = state.deliveries + state.queue.size() + (state.delivering ? 1 : 0);
  ++state.flushing;
  const bool done = state.wait_for_delivery(
      patience, [&]() LATCHKEY_REQUIRES(state.mutex) { return state.deliveries >= all; });
  --state.flushing;
  return done;
}

// Starts or wakes the thread, with the mutex held. False: no thread can be started.
bool Notifier::ensure_thread() noexcept LATCHKEY_NO_THREAD_SAFETY_ANALYSIS {
  if (!state_->started) {
    try {
      // The thread has a share in the listener as well: it may outlive this.
      thread_ = std::thread([state = state_, listener = listener_] { run(*state); });
      state_->thread = thread_.get_id();
    } catch (const std::exception&) {  // no thread, or no memory for one
      lacks_thread_ = true;
      return false;
    }
    state_->started = true;
    lacks_thread_ = false;
  }
  state_->filled.notify_one();
  return true;
}

void Notifier::run(State& state) noexcept {
  const SanitizerPause pause;
  ScopedLock lock(state.mutex);
  while (state.wait_for_item()) {
    EventQueue::Item item = state.queue.take();
    Listener* const listener = state.silent ? nullptr : state.listener;
    state.delivering = true;
    lock.unlock();
    if (item.is_stop()) {
      const SanitizerResumption resumption;
      item.stop.request_stop();
    } else if (listener != nullptr) {
      const SanitizerResumption resumption;
      try {
        listener->on_event(item.event);
      } catch (...) {
        // A listener that throws misses the rest of its own event, and nothing else.
      }
    }
    lock.lock();
    state.delivering = false;
    ++state.deliveries;
    if (state.queue.empty() || state.flushing > 0) state.delivered.notify_all();
  }
}

void Notifier::lock_for_fork() noexcept { state_->mutex.lock(); }

void Notifier::unlock_after_fork() noexcept { state_->mutex.unlock(); }

// The parent's thread does not exist in the child, unless its listener has forked: then the calling
// thread is that thread, and it ends. A sleep on the parent's state would never end, so the state
// is leaked.
void Notifier::forget_parent() noexcept {
  state_->queue.clear();
  lacks_thread_ = false;
  state_->ending = true;
  state_->mutex.unlock();
  leak_intentionally(new std::shared_ptr<State>(std::move(state_)));
  leak_intentionally(new std::thread(std::move(thread_)));
  state_ = std::make_shared<State>(listener_);
}

}  // namespace latchkey::inline v1::detail
