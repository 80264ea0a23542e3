// Who is told when somebody asks for a key of the memory backend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "memory/lock_record.hpp"

namespace latchkey::inline v1::detail {

/// The subscribers to the revocations of each key. A key is here only while it has one. One thread
/// at a time.
class RevocationTable {
 public:
  /// Carries out a subscribe or unsubscribe. Throws std::bad_alloc and then changes nothing.
  void change_subscription(const Request& request, Subscriber& subscriber);

  /// Notifies the subscribers of the key that somebody asks for it. Returns how many there are.
  std::size_t notify(std::string_view key) const noexcept;

  /// Ends all subscriptions of `subscriber`.
  void forget(const Subscriber& subscriber) noexcept;

  // --- for a store that keeps the subscribers elsewhere, and brings those of one key here ---
  /// Null: the key has none.
  [[nodiscard]] const std::vector<Subscriber*>* find(std::string_view key) const {
    const auto at = subscribers_.find(key);
    return at == subscribers_.end() ? nullptr : &at->second;
  }
  void bring(std::string_view key, std::vector<Subscriber*>&& all) {
    subscribers_.insert_or_assign(std::string(key), std::move(all));
  }
  void clear() noexcept { subscribers_.clear(); }

 private:
  std::map<std::string, std::vector<Subscriber*>, std::less<>> subscribers_;
};

}  // namespace latchkey::inline v1::detail
