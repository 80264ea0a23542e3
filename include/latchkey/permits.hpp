// How many permits of a semaphore an acquire takes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// How many permits an acquire of LockType::PERMIT takes, and how many a new semaphore gets.
struct Permits {
  std::uint32_t taken = 1;  ///< by this acquire, all at once; 1 to most_permits_at_once
  std::uint32_t total = 0;  ///< how many a semaphore gets that does not exist yet; at least 1

  [[nodiscard]] friend bool operator==(const Permits&, const Permits&) noexcept = default;
};

/// One acquire takes at most so many permits.
inline constexpr std::uint32_t most_permits_at_once = 1'000;
/// A semaphore has at most so many: Redisson counts them in an int.
inline constexpr std::uint32_t most_permits = 2'147'483'647;

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
