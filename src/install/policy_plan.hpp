// The effect of a policy file on each LOCKED of the program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/parsed_key.hpp>

#include "install/lock_places.hpp"
#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

/// Everything in the file that applies to one LOCKED.
struct PlannedLock {
  LockPlace place{};
  Place at{};  ///< where the rule is, or the policy that LOCKED_BY names
  Policy over{};
  Policy defaults{};
  Perhaps<std::string> key{};  ///< several separated by commas
  Perhaps<std::string> backend{};
  Perhaps<Lease> lease{};                           ///< also that of the defaults
  Perhaps<std::chrono::milliseconds> lock_delay{};  ///< also that of the defaults
  Perhaps<std::chrono::milliseconds> cache{};       ///< also that of the defaults, if it counts
  Perhaps<Fenced> fenced{};
  std::optional<BoundKeys> bound{};  ///< `key` for this site

  /// The type that it is locked as, unless the code says `.permits`, or gives a type that is a
  /// variable.
  [[nodiscard]] LockType type() const noexcept;
};

struct PolicyPlan {
  std::vector<PlannedLock> locks{};         ///< those that a part of the file applies to
  std::vector<std::string> without_lock{};  ///< the methods that may run without their lock
};

/// Mistakes are appended to `problems`.
[[nodiscard]] PolicyPlan plan_policies(const PolicyFile& file, const Program& program,
                                       Problems& problems);

/// The mistakes in keys that the file alone shows.
void check_keys(const PolicyFile& file, Problems& problems);

}  // namespace latchkey::inline v1::detail
