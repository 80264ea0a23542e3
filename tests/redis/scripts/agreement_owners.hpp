// The keys, owners and listeners of agreement_test.cpp.
#pragma once

#include <compare>
#include <cstdint>
#include <iterator>
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
