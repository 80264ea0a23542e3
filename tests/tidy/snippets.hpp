// The C++ snippets of a page or header, and whether a test compiles each of them.
#pragma once

#include <string>
#include <vector>

#include "rules.hpp"
#include "source_file.hpp"

namespace latchkey::tidy {

struct Snippet {
  std::string page;
  std::size_t line;                ///< the line of the page where it begins
  std::vector<std::string> lines;  ///< without indentation and without empty lines
};

/// The blocks fenced with ```cpp. A block whose comment (`<!-- consumer: main.cpp -->`) gives it to
/// a script, which compiles it, is left out.
std::vector<Snippet> snippets_of(const SourceFile& page);

/// The examples in the `///` comments of a header: what is indented by four after an empty line, or
/// stands between \code and \endcode.
std::vector<Snippet> examples_of(const SourceFile& header);

/// A finding for each snippet whose lines do not stand one after the other, in whatever
/// indentation, in one of the `sources`. A `…` in a snippet stands for any text of that line.
Findings snippets_are_compiled(const std::vector<Snippet>& snippets,
                               const std::vector<SourceFile>& sources);

}  // namespace latchkey::tidy
