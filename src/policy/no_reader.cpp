// Stands in for reader.cpp in a build without yaml-cpp (LATCHKEY_POLICIES=OFF).
// SPDX-License-Identifier: BSL-1.0
#include "policy/reader.hpp"

namespace latchkey::inline v1::detail {

PolicyFile read_policies(std::string_view /*text*/, const Environment& /*environment*/,
                         Problems& problems) {
  problems.push_back({{1, 1},
                      "cannot read policy files: this latchkey was built without yaml-cpp "
                      "(LATCHKEY_POLICIES=OFF); build it with LATCHKEY_POLICIES=ON"});
  return {};
}

}  // namespace latchkey::inline v1::detail
