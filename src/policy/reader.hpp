// From the text of latchkey.yaml to its settings, with every mistake that the text alone shows.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include "policy/policy_file.hpp"
#include "policy/secrets.hpp"

namespace latchkey::inline v1::detail {

/// Mistakes are appended to `problems`, in no particular order, and left out of the result.
[[nodiscard]] PolicyFile read_policies(std::string_view text, const Environment& environment,
                                       Problems& problems);

}  // namespace latchkey::inline v1::detail
