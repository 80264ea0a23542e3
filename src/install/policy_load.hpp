// A policy file read and checked against the program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <latchkey/error.hpp>

#include "install/policy_plan.hpp"
#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

struct LoadedPolicies {
  bool readable = false;  ///< the file could be opened and read
  PolicyFile file{};
  PolicyPlan plan{};
  Problems problems{};
};

/// Reads the file and checks it against the methods of `program`. Touches nothing but the file and
/// the environment.
[[nodiscard]] LoadedPolicies load_policies(const std::string& path, const Program& program);

/// Reads and checks the file without a program: finds the mistakes that the file alone shows. The
/// plan is empty.
[[nodiscard]] LoadedPolicies load_policies(const std::string& path);

/// The policies of a test, from `text` or else from the file, for those methods that this program
/// has. The plan names no backends.
[[nodiscard]] LoadedPolicies load_test_policies(const std::string& path,
                                                const std::optional<std::string>& text);

/// The problems as exceptions, in the order of the file.
[[nodiscard]] std::vector<PolicyError> errors_of(const std::string& path, Problems problems);

/// Throws all of them as one, if there are any.
void throw_problems(const std::string& path, Problems problems);

/// The scheme of a URI; empty if it has none.
[[nodiscard]] std::string scheme_of(const std::string& uri);

}  // namespace latchkey::inline v1::detail
