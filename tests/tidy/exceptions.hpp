// Folders and types that a rule leaves out.
#pragma once

#include <array>
#include <string_view>

namespace latchkey::tidy {

/// Folders with more than most_files_of_a_folder files beside each other.
inline constexpr std::array<std::string_view, 3> crowded_folders{
    "include/latchkey",                // one public noun each: users spell these names
    "tests/compile_fail/annotations",  // one program each
    "tests/compile_fail",              // one program each
};

/// Types with one definition for each kind of compiler.
inline constexpr std::array<std::string_view, 1> types_of_two_headers{
    "latchkey::reflect::AggregateFields",  // by reflection, or without it
};

}  // namespace latchkey::tidy
