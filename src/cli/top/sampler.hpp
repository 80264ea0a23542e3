// Asks the backend for what `latchkey top` shows, within a budget.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <latchkey/locks.hpp>

#include "cli/list/pacer.hpp"
#include "cli/list/scan.hpp"
#include "cli/top/observed_locks.hpp"
#include "cli/top/top_options.hpp"

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

}  // namespace latchkey::inline v1::cli
