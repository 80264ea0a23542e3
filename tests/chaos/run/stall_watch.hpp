// Notices when this machine runs nothing for long, which no promise survives in real time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "chaos/history.hpp"

namespace latchkey::chaos {

/// A thread that sleeps for 5 ms at a time, and records by how much it is woken late. Thread-safe.
class StallWatch {
 public:
  using Stalls = std::vector<std::pair<Nanos, Nanos>>;

  /// Those since the last call.
  Stalls take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(stalls_, {});
  }

 private:
  static constexpr Nanos tick = 5 * millisecond, stall = 150 * millisecond;

  void watch(const std::stop_token& stop) {
    for (Nanos due = now() + tick; !stop.stop_requested(); due = now() + tick) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(tick));
      const Nanos woken = now();
      if (woken - due < stall) continue;
      const std::lock_guard lock(mutex_);
      stalls_.emplace_back(due, woken);
    }
  }

  std::mutex mutex_;
  Stalls stalls_;
  std::jthread thread_{[this](const std::stop_token& stop) { watch(stop); }};
};

}  // namespace latchkey::chaos
