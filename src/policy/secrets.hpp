// ${NAME} in a URI: what comes from the environment and is never shown.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

/// Returns the value of an environment variable, or nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of the process.
[[nodiscard]] std::optional<std::string> process_environment(const std::string& name);

struct Expanded {
  std::string text;
  std::vector<Secret> secrets;
};

/// Replaces each ${NAME} of `uri`, which stands at `at`. A URI that is one ${NAME} becomes its
/// value as it is; otherwise the value is a part of a URI and is percent-encoded, so that any
/// password will do.
[[nodiscard]] Expanded expand_secrets(std::string_view uri, Place at,
                                      const Environment& environment, Problems& problems);

/// `text` with the values of secrets shown as ${NAME} again.
[[nodiscard]] std::string without_secrets(std::string text, const std::vector<Secret>& secrets);

}  // namespace latchkey::inline v1::detail
