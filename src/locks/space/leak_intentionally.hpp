// What a forked child has inherited and neither uses nor destroys.
#pragma once

#include <vector>

namespace latchkey::detail {

/// Keeps `thing` for ever, and where a leak checker finds it. For the one thread of a forked child.
inline void leave_behind(const void* thing) {
  static std::vector<const void*>& things = *new std::vector<const void*>;
  things.push_back(thing);
}

}  // namespace latchkey::detail
