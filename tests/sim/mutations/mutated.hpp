// Selects the active mutation. mutate.cmake adds an include of this file to its copies of sources.
#pragma once

#include <string_view>

namespace latchkey::tests {

/// The name of the active mutation. If empty, the copies behave like the sources.
inline std::string_view active_mutation;

inline bool mutated(std::string_view name) noexcept { return name == active_mutation; }

}  // namespace latchkey::tests

namespace latchkey::inline v1::detail {
using tests::mutated;
}
namespace latchkey::inline v1::sim {
using tests::mutated;
}
