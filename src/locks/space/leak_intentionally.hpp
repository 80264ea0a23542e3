// Objects that a forked child has inherited and neither uses nor destroys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <vector>

namespace latchkey::inline v1::detail {

/// Keeps `object` for ever, reachable for a leak checker. Called by the only thread of a forked
/// child.
inline void leak_intentionally(const void* object) {
  static std::vector<const void*>& leaked = *new std::vector<const void*>;
  leaked.push_back(object);
}

}  // namespace latchkey::inline v1::detail
