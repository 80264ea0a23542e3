// Which rule of a policy file speaks for which method.
#pragma once

#include <vector>

#include "install/lock_places.hpp"
#include "policy/policy_file.hpp"

namespace latchkey::detail {

/// For each place the most specific rule that names its method, null where none does. A rule that
/// names no method, and two of which neither is the more specific, are problems.
[[nodiscard]] std::vector<const Rule*> match_rules(const std::vector<Rule>& rules,
                                                   const std::vector<LockPlace>& places,
                                                   Problems& problems);

}  // namespace latchkey::detail
