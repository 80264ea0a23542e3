// Selects the rule of a policy file that applies to a method.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <vector>

#include "install/lock_places.hpp"
#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

/// For each place the most specific rule that names its method, null if none does. A rule that
/// names no method of a whole program is a problem, and so are two rules of which neither is more
/// specific.
[[nodiscard]] std::vector<const Rule*> match_rules(const std::vector<Rule>& rules,
                                                   const Program& program, Problems& problems);

}  // namespace latchkey::inline v1::detail
