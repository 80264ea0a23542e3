// The types that a source file defines in its namespaces.
#pragma once

#include <string>
#include <vector>

#include "source_file.hpp"

namespace latchkey::tidy {

/// With their namespaces, as latchkey::detail::Call; inline namespaces are left out, and types of
/// an unnamed namespace, which other files cannot see.
std::vector<std::string> types_defined_in(const SourceFile& file);

}  // namespace latchkey::tidy
