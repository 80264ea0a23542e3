// The locks that `latchkey top` has seen so far, with a history of each.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <latchkey/list_page.hpp>
#include <latchkey/lock_info.hpp>

#include "cli/top/lock_row.hpp"

namespace latchkey::inline v1::cli {

/// The locks that a scan has found or that somebody waits for, with a history of each. It decides
/// without I/O: the caller brings what the backend replied, and the time. Not thread-safe.
class ObservedLocks {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A scan has found these locks.
  void found(std::span<const std::string> keys);
  /// A scan of all keys has ended: locks that it did not find are forgotten.
  void end_scan();
  /// The complete list of the keys that somebody waits for. Each call is one sample of contention.
  void awaited(const ListPage& page);
  /// The state of some locks.
  void inspected(std::span<const LockInfo> infos, TimePoint now);

  /// At most `most` keys whose state is to be queried next: `visible` ones, then those that
  /// somebody waits for, then those whose state is oldest.
  [[nodiscard]] std::vector<std::string> to_inspect(std::span<const std::string> visible,
                                                    std::size_t most);

  /// The rows in order.
  [[nodiscard]] std::vector<LockRow> rows(const RowOrder& order, TimePoint now) const;

  /// How many locks are known to be held or waited for.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::size_t awaited_keys() const noexcept { return awaited_keys_; }
  [[nodiscard]] std::uint64_t all_waiters() const noexcept { return all_waiters_; }

 private:
  struct Lock {
    std::optional<LockInfo> info{};  ///< empty: not inspected yet
    TimePoint inspected_at{};
    TimePoint held_since{};       ///< when this holder was first seen
    bool since_is_exact = false;  ///< the lock was seen with another holder, or free, before
    std::uint64_t waiters = 0;
    std::uint64_t listed = 0;   ///< as many as the last list of awaited keys had
    std::uint64_t samples = 0;  ///< one bit for each sample, the last one lowest: somebody waited
    unsigned sampled = 0;       ///< how many of the bits are valid
    unsigned scan = 0;          ///< the scan that found it last
  };

  Lock& at(const std::string& key);
  void update(Lock& lock, const LockInfo& info, TimePoint now);
  [[nodiscard]] static bool is_shown(const Lock& lock) noexcept;
  [[nodiscard]] static LockRow row_of(const std::string& key, const Lock& lock, TimePoint now);

  std::unordered_map<std::string, Lock> locks_;
  std::deque<std::string> rotation_;  ///< every key once: the one to be inspected next in front
  std::vector<std::string> awaited_;  ///< most waiters first
  std::size_t awaited_keys_ = 0;
  std::uint64_t all_waiters_ = 0;
  unsigned scan_ = 1;
};

}  // namespace latchkey::inline v1::cli
