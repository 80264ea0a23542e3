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
  std::string text{};   ///< of a text
  bool quoted = false;  ///< of a text
  bool flow = false;    ///< of a list or a map: written in brackets
  bool broken = false;  ///< it stands for a mistake that has been reported
  /// Of a list. Of a map: its keys and values by turns, duplicates included.
  std::vector<YamlNode> items{};
};

/// Reads `text` and reports everything in it that is not YAML: a line that cannot be read is
/// reported and removed, then the rest is read again; after many such lines the file is given up.
[[nodiscard]] YamlNode read_yaml(std::string_view text, Problems& problems);

}  // namespace latchkey::inline v1::detail
