// A listener that keeps what it is told.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <latchkey/listener.hpp>

namespace latchkey::tests {

/// Real time that a test waits for something which must come, before it says that it did not.
inline constexpr std::chrono::seconds patience{20};

/// Thread-safe; it must outlive the Locks that tell it.
class Recorder final : public Listener {
 public:
  explicit Recorder(bool everything = true) : everything_(everything) {}

  void on_event(const Event& event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    threads_.insert(std::this_thread::get_id());
    changed_.notify_all();
  }
  bool wants_everything() const noexcept override { return everything_; }

  /// False: there were not as many of that kind within the patience.
  bool await(Event::Kind kind, std::size_t count = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return counted(kind) >= count; });
  }
  std::size_t count(Event::Kind kind) {
    const std::lock_guard lock(mutex_);
    return counted(kind);
  }
  std::vector<Event> of(Event::Kind kind) {
    const std::lock_guard lock(mutex_);
    std::vector<Event> found;
    std::ranges::copy_if(events_, std::back_inserter(found),
                         [&](const Event& event) { return event.kind == kind; });
    return found;
  }
  bool last_was(Event::Kind kind) {
    const std::lock_guard lock(mutex_);
    return !events_.empty() && events_.back().kind == kind;
  }
  /// The threads that it was called on.
  std::set<std::thread::id> threads() {
    const std::lock_guard lock(mutex_);
    return threads_;
  }

 private:
  [[nodiscard]] std::size_t counted(Event::Kind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(events_, [&](const Event& event) { return event.kind == kind; }));
  }

  const bool everything_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;
  std::set<std::thread::id> threads_;
};

/// Looks at `condition` every millisecond until it holds; false where it does not within the
/// patience.
template <class Condition>
bool eventually(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace latchkey::tests
