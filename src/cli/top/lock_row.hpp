// One line of `latchkey top`, and the order of the lines.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace latchkey::inline v1::cli {

/// The known facts of a lock. Empty optionals: not known (yet).
struct LockRow {
  std::string key{};
  std::string type{};
  std::string holder{};  ///< as announced, otherwise its id; of several the first
  std::size_t holders = 0;
  std::optional<std::chrono::milliseconds> held{};  ///< since top saw this holder first
  bool held_longer = false;                         ///< it held already when top saw the lock first
  std::optional<std::chrono::milliseconds> left{};  ///< the rest of the lease
  bool endless = false;                             ///< the lease has no end
  /// How long ago a holder was asked to release the lock, the last time; of several the last one.
  std::optional<std::chrono::milliseconds> revoked{};
  std::uint64_t waiters = 0;
  unsigned contention = 0;  ///< in how many percent of the samples somebody waited
};

enum class SortKey : unsigned char { contention, waiters, held, left, name };

/// Which rows, and in which order.
struct RowOrder {
  SortKey key = SortKey::contention;
  bool reverse = false;
  std::string filter{};  ///< a part of the key or of the holder; empty: all rows
};

/// Whether `row` is shown.
[[nodiscard]] bool fits(const LockRow& row, const RowOrder& order);
/// Whether `one` comes before `other`. Rows that are otherwise equal are in the order of their
/// keys.
[[nodiscard]] bool precedes(const LockRow& one, const LockRow& other, const RowOrder& order);

/// "contention", "waiters", "held", "left", "key".
[[nodiscard]] const char* to_string(SortKey key) noexcept;
/// The inverse. Throws UsageError.
[[nodiscard]] SortKey parse_sort_key(const std::string& text);

/// One JSON object and a newline, with stable names: key, type, holder, holders, held_ms,
/// held_longer, lease_left_ms, revoked_ms, waiters, contention_percent.
[[nodiscard]] std::string row_json(const LockRow& row);

}  // namespace latchkey::inline v1::cli
