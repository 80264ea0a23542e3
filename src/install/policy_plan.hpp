// What a policy file means for each LOCKED of the program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <latchkey/key/parsed_key.hpp>

#include "install/lock_places.hpp"
#include "policy/policy_file.hpp"

namespace latchkey::detail {

/// What is said of one LOCKED.
struct PlannedLock {
  LockPlace place{};
  Place at{};  ///< of what speaks of it: the rule, or the policy that it names
  Policy over{};
  Policy defaults{};
  Perhaps<std::string> key{};
  Perhaps<std::string> backend{};
  std::optional<BoundKey> bound{};  ///< `key` for this site
};

struct PolicyPlan {
  std::vector<PlannedLock> locks{};         ///< those that something is said of
  std::vector<std::string> without_lock{};  ///< the methods that may run without their lock
};

/// Mistakes are told in `problems`.
[[nodiscard]] PolicyPlan plan_policies(const PolicyFile& file, const std::vector<LockPlace>& places,
                                       Problems& problems);

/// The mistakes in keys that the file alone shows.
void check_keys(const PolicyFile& file, Problems& problems);

}  // namespace latchkey::detail
