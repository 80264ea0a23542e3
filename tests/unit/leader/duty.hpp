// A Leader's callback that a test watches and ends.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <vector>

#include <latchkey/leader.hpp>

#include "support/recorder.hpp"

namespace latchkey::tests {

/// Runs until it is told to stop, and then, if it `lingers`, until finish(). Must outlive the
/// Leaders that it is the callback of.
class Duty {
 public:
  /// Called when a stop is requested, by the thread that requests it.
  std::function<void()> on_stop = [] {};
  bool lingers = false;

  Leader::Callback callback() {
    return [this](const std::stop_token& stop, std::uint64_t term) { run(stop, term); };
  }

  /// Lets the current callback end.
  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] bool await_terms(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return terms_.size() >= count; });
  }
  [[nodiscard]] bool await_stops(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return stops_ >= count; });
  }
  [[nodiscard]] std::vector<std::uint64_t> terms() {
    const std::lock_guard lock(mutex_);
    return terms_;
  }
  [[nodiscard]] bool runs() {
    const std::lock_guard lock(mutex_);
    return running_ > 0;
  }

 private:
  void run(const std::stop_token& stop, std::uint64_t term) {
    std::unique_lock lock(mutex_);
    terms_.push_back(term);
    ++running_;
    finished_ = false;
    changed_.notify_all();
    lock.unlock();
    {
      const std::stop_callback stopped(stop, [this] {
        on_stop();
        const std::lock_guard guard(mutex_);
        ++stops_;
        changed_.notify_all();
      });
      lock.lock();
      changed_.wait(lock, [&] { return finished_ || (stop.stop_requested() && !lingers); });
      lock.unlock();
    }
    lock.lock();
    --running_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint64_t> terms_;
  std::size_t stops_ = 0;
  int running_ = 0;
  bool finished_ = false;
};

}  // namespace latchkey::tests
