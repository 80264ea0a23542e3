// testing::Recorder with queries that only latchkey's own tests need.
#pragma once

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include <latchkey/testing/recorder.hpp>

namespace latchkey::tests {

/// How long, in real time, a test waits for something that must happen before it fails.
inline constexpr std::chrono::seconds patience = latchkey::testing::Recorder::patience;

class Recorder final : public latchkey::testing::Recorder {
 public:
  using latchkey::testing::Recorder::Recorder;

  void on_event(const Event& event) override {
    {
      const std::lock_guard lock(mutex_);
      threads_.insert(std::this_thread::get_id());
    }
    latchkey::testing::Recorder::on_event(event);
  }

  [[nodiscard]] bool last_was(Event::Kind kind) const {
    const auto all = events();
    return !all.empty() && all.back().kind == kind;
  }
  /// The threads that called on_event.
  std::set<std::thread::id> threads() {
    const std::lock_guard lock(mutex_);
    return threads_;
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> threads_;
};

/// Polls `condition` every millisecond. False if it does not hold within `patience`.
template <class Condition>
bool eventually(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    // sleeps: it asks again what no event tells
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace latchkey::tests
