// The keys, owners and listeners of agreement_test.cpp.
#pragma once

#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "memory/lock_table.hpp"
#include "support/lock_types.hpp"

namespace latchkey::tests::agreement {

inline constexpr std::string_view all_keys[] = {"a", "{b}c", "c:1"};
inline constexpr std::uint64_t ids_per_type = 3;
inline constexpr std::uint64_t all_ids = ids_per_type * std::size(all_types);

/// A key, and the number of an id that may hold it or wait for it.
struct Claim {
  std::string_view key;
  std::uint64_t number;
  friend auto operator<=>(const Claim&, const Claim&) = default;
};

/// A process that listens to what both grant it. Which token a grant has is not known.
struct Grants final : detail::Subscriber {
  void notify(const Notification& notification) noexcept override {
    if (notification.kind == Notification::Kind::granted) keys.emplace(notification.key);
  }
  std::set<std::string> keys;
};

/// The ids of the holders.
inline std::set<std::string> holders(const LockInfo& info) {
  std::set<std::string> ids;
  for (const HolderInfo& holder : info.holders) ids.insert(holder.id);
  return ids;
}

/// The ids of those that were asked to release the lock.
inline std::set<std::string> revoked(const LockInfo& info) {
  std::set<std::string> ids;
  for (const HolderInfo& holder : info.holders) {
    if (holder.revoked) ids.insert(holder.id);
  }
  return ids;
}

/// By key, the holders that its last revocation found and that have held it since then. Here ids
/// are used again, and a note in Redis names ids.
class AskedHolders {
 public:
  void clear() noexcept { asked_.clear(); }
  /// After the request. A forced release may grant the lock to the same id, from a queue.
  void note(const Request& request, const LockInfo& table) {
    std::set<std::string>& asked = asked_[table.key];
    if (request.verb == Verb::revoke) asked = holders(table);
    if (request.verb == Verb::force_release) asked.clear();
  }
  /// Those of `info` that were asked, without later holders. `info` and `table` are of one key.
  std::set<std::string> revoked_of(const LockInfo& info, const LockInfo& table) {
    const std::set<std::string> still = holders(table);
    std::set<std::string>& asked = asked_[table.key];
    std::erase_if(asked, [&](const std::string& id) { return !still.contains(id); });
    std::set<std::string> ids = revoked(info);
    std::erase_if(ids, [&](const std::string& id) { return !asked.contains(id); });
    return ids;
  }

 private:
  std::map<std::string, std::set<std::string>> asked_;
};

/// The FAIR waiters that listen to what they are granted: all but one.
inline std::vector<std::uint64_t> listening() {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 1; number <= all_ids; ++number) {
    if (all_types[number % std::size(all_types)] == LockType::FAIR) numbers.push_back(number);
  }
  numbers.pop_back();
  return numbers;
}

}  // namespace latchkey::tests::agreement
