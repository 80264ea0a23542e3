// The generated parts of docs/benchmarks.md; plots.py draws them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "results.hpp"

namespace latchkey::bench {

/// The table of a group in Markdown, with a list of the measurements that failed.
std::string table_of(const GroupResults& group);

/// Replaces what stands between `<!-- generated: name -->` and `<!-- end -->` in a page. Throws
/// std::runtime_error if the page has no such lines.
void replace_part(const std::filesystem::path& page, std::string_view name,
                  const std::string& text);

}  // namespace latchkey::bench
