// The settings that a reload may not change: those that select the lock of a method.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>

#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

/// Reports each difference between the backends and prefixes of a file and the one in force.
void refuse_other_backends(const PolicyFile& before, const PolicyFile& now, Problems& problems);

/// Checks one setting of one method. `before` and `now` are its values in the file, if any.
void refuse_change(const char* setting, const std::string& method,
                   const std::optional<std::string>& before, const Perhaps<std::string>& now,
                   Place otherwise, Problems& problems);

}  // namespace latchkey::inline v1::detail
