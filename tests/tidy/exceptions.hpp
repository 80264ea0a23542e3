// What does not keep a rule yet. A line goes as soon as its class or folder keeps it.
#pragma once

#include <array>
#include <string_view>

namespace latchkey::tidy {

/// Classes whose members are defined in more than most_files_of_a_class files.
inline constexpr std::array<std::string_view, 5> spread_classes{
    "src/locks Coordinator", "src/locks LockSpace",    "src/redis ConnectionMultiplexer",
    "src/redis Session",     "src/testing Simulation",
};

/// Folders with more than most_files_of_a_folder files beside each other.
inline constexpr std::array<std::string_view, 5> crowded_folders{
    "include/latchkey",    // one public noun each: users spell these names
    "tests/compile_fail",  // one program each
    "src/locks",          "src/redis", "tests/support",
};

}  // namespace latchkey::tidy
