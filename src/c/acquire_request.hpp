// An acquire of the C interface, checked.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/latchkey.h>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>

namespace latchkey::inline v1::detail::c {

[[nodiscard]] constexpr bool is_set(std::int64_t setting) noexcept {
  return setting != LATCHKEY_UNSET;
}

/// Throws std::invalid_argument if a struct of the caller is smaller than the one known here.
void require_size(std::size_t size, std::size_t expected, const char* type);

/// The defaults for null. Throws std::invalid_argument.
[[nodiscard]] Options options_of(const latchkey_options* options);

/// A latchkey_request, checked. Refers to its keys.
class AcquireRequest {
 public:
  /// Throws std::invalid_argument, and KeyError without a key.
  explicit AcquireRequest(const latchkey_request* request);

  /// Waits for it. Throws what Locks::acquire throws.
  [[nodiscard]] Hold acquire(const Locks& locks) const;
  /// The lock and the attempt of an acquire that no thread waits for.
  [[nodiscard]] Lock lock(const Locks& locks) const;
  [[nodiscard]] Attempt attempt(const Locks& locks) const;
  /// For how long after the grant the key stays locked at least.
  [[nodiscard]] std::chrono::milliseconds hold_for() const noexcept { return hold_for_; }

 private:
  [[nodiscard]] bool is_semaphore() const noexcept { return attempt_.type == LockType::PERMIT; }
  [[nodiscard]] Locks of_owner(const Locks& locks) const;

  std::vector<std::string_view> keys_;
  std::uint64_t owner_;
  Attempt attempt_;
  std::int64_t total_;
  std::int64_t permits_;
  std::chrono::milliseconds hold_for_;
};

}  // namespace latchkey::inline v1::detail::c
