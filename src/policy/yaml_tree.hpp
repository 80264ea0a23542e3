// YAML as a plain tree with positions, and an error text for each common pitfall.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

struct YamlNode {
  enum class Kind { null, text, list, map } kind = Kind::null;
  Place at{};
  std::string text{};   ///< text: its value
  bool quoted = false;  ///< text: written in quotes
  bool flow = false;    ///< list or map: written in brackets
  bool broken = false;  ///< it stands for a mistake that has been reported
  /// The elements of a list, or the keys and values of a map by turns, duplicates included.
  std::vector<YamlNode> items{};
};

/// Reads `text` and reports everything in it that is not YAML: a line that cannot be read is
/// reported and removed, then the rest is read again; after many such lines the file is given up.
[[nodiscard]] YamlNode read_yaml(std::string_view text, Problems& problems);

}  // namespace latchkey::inline v1::detail
