// Notices when this machine runs nothing for long, which no promise survives in real time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "chaos/history.hpp"

namespace latchkey::chaos {

/// For each processor a thread that sleeps for 5 ms at a time there, and records by how much it is
/// woken late. A virtual processor may stop for a second while the others run on, and with it all
/// threads that wait for it: a proxy was silent for so long. Thread-safe.
class StallWatch {
 public:
  using Stalls = std::vector<std::pair<Nanos, Nanos>>;

  StallWatch() {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    ::sched_getaffinity(0, sizeof usable, &usable);
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(processor, &usable)) continue;
      threads_.emplace_back([this, processor](const std::stop_token& stop) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        ::sched_setaffinity(0, sizeof one, &one);  // 0: this thread
        watch(stop);
      });
    }
  }

  /// For how long the machine ran nothing since then, at most. `take` was not called since then.
  Nanos length_since(Nanos time) {
    const std::lock_guard lock(mutex_);
    Nanos length = 0;
    for (const auto& [from, to] : stalls_) length += std::max<Nanos>(0, to - std::max(from, time));
    return length;
  }

  /// Those since the last call.
  Stalls take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(stalls_, {});
  }

 private:
  static constexpr Nanos tick = 5 * millisecond, stall = 150 * millisecond;

  void watch(const std::stop_token& stop) {
    for (Nanos due = now() + tick; !stop.stop_requested(); due = now() + tick) {
      // sleeps: a stall is a sleep that takes too long
      std::this_thread::sleep_for(std::chrono::nanoseconds(tick));
      const Nanos woken = now();
      if (woken - due < stall) continue;
      const std::lock_guard lock(mutex_);
      stalls_.emplace_back(due, woken);
    }
  }

  std::mutex mutex_;
  Stalls stalls_;
  std::vector<std::jthread> threads_;
};

}  // namespace latchkey::chaos
