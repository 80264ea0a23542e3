// The settings of a policy, without the lock that they apply to.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The strategies that a file can name. Strategies that need a value or a function exist only in
/// code.
enum class OnTimeout : std::uint8_t { RAISE, SKIP, RUN_UNLOCKED_DANGEROUSLY };
enum class OnUnavailable : std::uint8_t { RAISE, SKIP };
enum class OnLost : std::uint8_t { RAISE, REPORT };

/// The settings of one policy of latchkey.yaml, each set or empty. docs/policies.md describes each
/// setting and which policy has precedence. A value type without file positions and methods.
struct Policy {
  std::optional<LockType> type{};          ///< PERMIT if `permits` is set
  std::optional<std::uint32_t> permits{};  ///< how many the semaphore has
  std::optional<Wait> wait{};
  std::optional<Lease> lease{};
  std::optional<std::chrono::milliseconds> hold_for{};
  std::optional<std::chrono::milliseconds> held_at_most{};
  std::optional<std::chrono::milliseconds> lock_delay{};
  std::optional<OnTimeout> on_timeout{};
  std::optional<OnUnavailable> on_unavailable{};
  std::optional<OnLost> on_lost{};
  std::optional<OnLost> on_unconfirmed_release{};
  bool unlocked = false;  ///< `unlocked: dangerously`: the body runs without the lock
  bool fenced = false;    ///< `fenced: true`: Attempt::fenced

  friend bool operator==(const Policy&, const Policy&) noexcept = default;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
