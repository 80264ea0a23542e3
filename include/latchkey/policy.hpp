// What a policy says of a lock, apart from which lock it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

namespace latchkey {

/// The strategies that a file can name: those that need a value or a function stand in code.
enum class OnTimeout : std::uint8_t { RAISE, SKIP, RUN_UNLOCKED_DANGEROUSLY };
enum class OnUnavailable : std::uint8_t { RAISE, SKIP };
enum class OnLost : std::uint8_t { RAISE, REPORT };

/// The words of one policy of latchkey.yaml, each said or not. docs/policies.md has what each means
/// and which policy wins. A value: it knows nothing of files and methods.
struct Policy {
  std::optional<LockType> type{};
  std::optional<Wait> wait{};
  std::optional<Lease> lease{};
  std::optional<std::chrono::milliseconds> hold_for{};
  std::optional<OnTimeout> on_timeout{};
  std::optional<OnUnavailable> on_unavailable{};
  std::optional<OnLost> on_lost{};
  bool unlocked = false;  ///< `unlocked: dangerously`: the body runs without the lock

  friend bool operator==(const Policy&, const Policy&) noexcept = default;
};

}  // namespace latchkey
