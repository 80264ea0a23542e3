// The settings of a policy, without the lock that they apply to.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/strategy.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The settings of one policy of latchkey.yaml, each set or empty. docs/policies.md describes each
/// setting and which policy has precedence. A value type without file positions and methods.
struct Policy {
  /// The strategies that a file can name. Those with a value or a function exist only in code.
  using OnTimeout = std::variant<strategy::Raise, strategy::Skip, strategy::RunUnlocked>;
  using OnUnavailable = std::variant<strategy::Raise, strategy::Skip>;
  using OnLost = std::variant<strategy::Raise, strategy::Report>;

  std::optional<LockType> type{};          ///< PERMIT if `permits` is set
  std::optional<std::uint32_t> permits{};  ///< how many the semaphore has
  std::optional<Wait> wait{};
  std::optional<Lease> lease{};
  std::optional<std::chrono::milliseconds> hold_for{};
  std::optional<std::chrono::milliseconds> held_at_most{};
  std::optional<std::chrono::milliseconds> lock_delay{};
  std::optional<std::chrono::milliseconds> cache{};
  std::optional<OnTimeout> on_timeout{};
  std::optional<OnUnavailable> on_unavailable{};
  std::optional<OnLost> on_lost{};
  std::optional<OnLost> on_unconfirmed_release{};
  bool unlocked = false;  ///< `unlocked: dangerously`: the body runs without the lock
  bool fenced = false;    ///< `fenced: true`: Attempt::fenced
  /// `shared_with: redisson`: the lock is never kept after its release, whatever the code says.
  bool shared_with_redisson = false;

  friend bool operator==(const Policy&, const Policy&) noexcept = default;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
