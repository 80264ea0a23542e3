// One line of `latchkey top`, and the order of the lines.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/lock_row.hpp"

#include <array>
#include <compare>
#include <tuple>

#include "cli/connection.hpp"
#include "cli/output.hpp"

namespace latchkey::inline v1::cli {
namespace {

constexpr std::array sort_keys = {SortKey::contention, SortKey::waiters, SortKey::held,
                                  SortKey::left, SortKey::name};

/// Most interesting rows first, so larger numbers precede smaller ones; except for the lease, whose
/// end is near, and the name.
std::weak_ordering compare(const LockRow& one, const LockRow& other, SortKey key) {
  using std::chrono::milliseconds;
  switch (key) {
    case SortKey::contention:
      return std::tuple(other.contention, other.waiters) <=>
             std::tuple(one.contention, one.waiters);
    case SortKey::waiters: return other.waiters <=> one.waiters;
    case SortKey::held:
      return other.held.value_or(milliseconds(-1)) <=> one.held.value_or(milliseconds(-1));
    case SortKey::left:
      return one.left.value_or(milliseconds::max()) <=> other.left.value_or(milliseconds::max());
    case SortKey::name: break;
  }
  return std::weak_ordering::equivalent;
}

template <class Length>
nlohmann::ordered_json number_or_null(const std::optional<Length>& length) {
  return length ? nlohmann::ordered_json(length->count()) : nlohmann::ordered_json(nullptr);
}

}  // namespace

bool fits(const LockRow& row, const RowOrder& order) {
  return row.key.find(order.filter) != std::string::npos ||
         row.holder.find(order.filter) != std::string::npos;
}

bool precedes(const LockRow& one, const LockRow& other, const RowOrder& order) {
  auto compared = compare(one, other, order.key);
  if (compared == 0 && order.key == SortKey::name) compared = one.key <=> other.key;
  if (compared != 0) return order.reverse ? compared > 0 : compared < 0;
  return one.key < other.key;
}

const char* to_string(SortKey key) noexcept {
  switch (key) {
    case SortKey::contention: return "contention";
    case SortKey::waiters: return "waiters";
    case SortKey::held: return "held";
    case SortKey::left: return "left";
    case SortKey::name: break;
  }
  return "key";
}

SortKey parse_sort_key(const std::string& text) {
  for (const SortKey key : sort_keys) {
    if (text == to_string(key)) return key;
  }
  throw UsageError("--sort '" + text +
                   "': unknown column; expected contention, waiters, held, left or key");
}

std::string row_json(const LockRow& row) {
  nlohmann::ordered_json json{{"key", row.key}, {"type", row.type}, {"holder", row.holder}};
  json["holders"] = row.holders;
  json["held_ms"] = number_or_null(row.held);
  json["held_longer"] = row.held_longer;
  json["lease_left_ms"] = number_or_null(row.left);
  json["revoked_ms"] = number_or_null(row.revoked);
  json["waiters"] = row.waiters;
  json["contention_percent"] = row.contention;
  return json_line(json);
}

}  // namespace latchkey::inline v1::cli
