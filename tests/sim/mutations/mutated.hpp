// Which mutation is active. The copies of the sources that mutate.cmake makes include this.
#pragma once

#include <string_view>

namespace latchkey::tests {

/// The name of the active mutation; empty: none, and the copies behave as the sources.
inline std::string_view active_mutation;

inline bool mutated(std::string_view name) noexcept { return name == active_mutation; }

}  // namespace latchkey::tests

namespace latchkey::detail {
using tests::mutated;
}
namespace latchkey::sim {
using tests::mutated;
}
