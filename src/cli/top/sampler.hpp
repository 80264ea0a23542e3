// Samples of what `latchkey top` shows: within a budget, and on a thread of their own.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "cli/list/scan.hpp"
#include "cli/poll_events.hpp"
#include "cli/top/observed_locks.hpp"
#include "cli/top/top.hpp"

namespace latchkey::inline v1::cli {

/// Each sample queries the keys that somebody waits for, without a scan; then the state of the
/// locks on the screen and of as many others as the budget allows; and continues the scan. A sample
/// therefore costs the server the same, however many keys it has. Not thread-safe.
class Sampler {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Sampler(Locks locks, const TopOptions& options);

  /// The backend's replies to one sample.
  struct Sample {
    std::optional<ListPage> awaited{};  ///< all keys that somebody waits for; empty: not queried
    std::vector<std::string> found{};   ///< by the scan
    bool scan_ended = false;
    bool scan_complete = false;  ///< it ended after all keys, not at its limit
    std::vector<LockInfo> infos{};
    std::string progress{};  ///< how far the scan is
    bool knows_waiters = true;
  };

  /// The first part: what exists. Throws BackendUnavailable, BackendRefused.
  void query_keys(Sample& sample, TimePoint now);
  /// The second part: the state of `keys`. Throws as query_keys.
  void query_state(Sample& sample, std::span<const std::string> keys);
  /// How many locks the second part may query now.
  [[nodiscard]] std::size_t inspections(TimePoint now);

  [[nodiscard]] TimePoint inspections_due() const { return inspect_pacer_.due(); }
  /// A part of query_keys: continues the scan, as far as the budget allows it now.
  void continue_scan(Sample& sample, TimePoint now);
  [[nodiscard]] TimePoint scan_due() const { return scan_pacer_.due(); }

 private:
  [[nodiscard]] std::optional<ListPage> query_awaited(TimePoint now);
  [[nodiscard]] ListPage all_awaited();

  Locks locks_;
  const TopOptions& options_;
  Scan scan_;
  Pacer scan_pacer_;
  Pacer inspect_pacer_;
  Pacer awaited_pacer_;
  bool knows_waiters_ = true;
};

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
