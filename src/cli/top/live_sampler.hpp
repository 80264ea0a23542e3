// Samples the backend on a separate thread, so that the screen never waits for a server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cli/run/wake_event.hpp"
#include "cli/top/observed_locks.hpp"
#include "cli/top/sampler.hpp"
#include "cli/top/top_options.hpp"

namespace latchkey::inline v1::cli {

/// Takes a sample in each interval, and sets `sampled` after each. Thread-safe.
class LiveSampler {
 public:
  LiveSampler(const Locks& locks, const TopOptions& options, const WakeEvent& sampled);
  LiveSampler(const LiveSampler&) = delete;
  LiveSampler& operator=(const LiveSampler&) = delete;
  /// Ends a sample that is under way, which takes at most as long as a command may take.
  ~LiveSampler() = default;

  /// The result of all samples so far.
  struct State {
    std::vector<LockRow> rows{};
    std::size_t locks = 0;
    std::size_t awaited_keys = 0;
    std::uint64_t waiters = 0;
    bool knows_waiters = true;
    std::string progress{};
    std::string error{};
  };
  /// Throws what ended the thread, if it is not an error of the backend.
  [[nodiscard]] State state(const RowOrder& order);

  /// `visible`: the keys whose state the next sample queries first.
  void show(std::vector<std::string> visible);
  void pause(bool paused);

 private:
  void run(const std::stop_token& stopped);
  void sample();
  void wait_for_next(const std::stop_token& stopped);

  const TopOptions& options_;
  const WakeEvent& sampled_;
  Sampler sampler_;  // used by the thread only

  std::mutex mutex_;
  std::condition_variable_any changed_;
  ObservedLocks locks_;
  std::vector<std::string> visible_;
  bool paused_ = false;
  bool knows_waiters_ = true;
  std::string progress_;
  std::string error_;
  std::exception_ptr failure_;

  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace latchkey::inline v1::cli
