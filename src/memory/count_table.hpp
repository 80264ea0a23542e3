// The latches of the memory backend as a pure state machine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "memory/lock_table.hpp"

namespace latchkey::inline v1::detail {

/// Counts by key. A key is here only while it has a count or a subscriber. One thread at a time.
class CountTable {
 public:
  [[nodiscard]] static bool serves(Verb verb) noexcept {
    return verb == Verb::latch_set || verb == Verb::latch_down || verb == Verb::latch_count ||
           verb == Verb::latch_delete;
  }

  /// Carries out a verb that it serves, or a subscription to a latch, which alone uses
  /// `subscriber`. `outcome` is newly made. Throws std::bad_alloc and then changes nothing.
  void apply(const Request& request, Subscriber* subscriber, Outcome& outcome);

  /// Ends all subscriptions of `subscriber`.
  void forget(const Subscriber& subscriber) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return latches_.size(); }

  struct Latch {
    std::uint32_t count = 0;  ///< 0: none
    std::vector<Subscriber*> subscribers{};
  };
  // --- for a store that keeps the latches elsewhere, and brings one here for one request ---
  [[nodiscard]] const Latch* find(std::string_view key) const {
    const auto at = latches_.find(key);
    return at == latches_.end() ? nullptr : &at->second;
  }
  void bring(std::string_view key, Latch&& latch) {
    latches_.insert_or_assign(std::string(key), std::move(latch));
  }
  void clear() noexcept { latches_.clear(); }

 private:
  using Latches = std::map<std::string, Latch, std::less<>>;

  void set(const Request& request, Outcome& outcome);
  void change_subscription(const Request& request, Subscriber& subscriber);
  static void notify(const Latches::value_type& entry) noexcept;
  void erase_if_unused(Latches::iterator at) noexcept;

  Latches latches_;
};

}  // namespace latchkey::inline v1::detail
