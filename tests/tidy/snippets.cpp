// Looks for the lines of snippets in sources, which are listed and so compiled.
#include "snippets.hpp"

#include <algorithm>
#include <string_view>

namespace latchkey::tidy {
namespace {

std::string_view without_indentation(std::string_view line) {
  const std::size_t from = line.find_first_not_of(' ');
  return from == std::string_view::npos ? std::string_view{} : line.substr(from);
}

std::vector<std::string_view> code_lines(const SourceFile& source) {
  std::vector<std::string_view> result;
  for (const std::string_view line : source.lines()) {
    const std::string_view code = without_indentation(line);
    if (!code.empty()) result.push_back(code);
  }
  return result;
}

/// Whether `line` is `pattern`, in which `…` stands for any text.
bool matches(std::string_view pattern, std::string_view line) {
  constexpr std::string_view any = "…";
  const std::size_t at = pattern.find(any);
  if (at == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, at))) return false;
  line.remove_prefix(at);
  pattern.remove_prefix(at + any.size());
  for (std::size_t skipped = 0; skipped <= line.size(); ++skipped) {
    if (matches(pattern, line.substr(skipped))) return true;
  }
  return false;
}

bool contains(const SourceFile& source, const std::vector<std::string>& lines) {
  const std::vector<std::string_view> code = code_lines(source);
  const auto same = [](std::string_view line, const std::string& pattern) {
    return matches(pattern, line);
  };
  return std::search(code.begin(), code.end(), lines.begin(), lines.end(), same) != code.end();
}

bool gives_to_a_script(std::string_view line) {
  return line.starts_with("<!-- consumer: ") || line.starts_with("<!-- tutorial: ");
}

}  // namespace

std::vector<Snippet> snippets_of(const SourceFile& page) {
  std::vector<Snippet> result;
  std::size_t number = 0;
  bool inside = false;
  bool given_away = false;
  for (const std::string_view line : page.lines()) {
    ++number;
    const std::string_view code = without_indentation(line);
    if (inside && code == "```") {
      inside = false;
    } else if (inside) {
      if (!code.empty()) result.back().lines.emplace_back(code);
    } else if (code == "```cpp" && !given_away) {
      inside = true;
      result.push_back({page.path, number + 1, {}});
    }
    given_away = gives_to_a_script(code);
  }
  return result;
}

std::vector<Snippet> examples_of(const SourceFile& header) {
  constexpr std::string_view indented = "///     ";
  std::vector<Snippet> result;
  std::size_t number = 0;
  bool may_begin = false;  // the line before was empty, or \code
  bool marked = false;     // between \code and \endcode
  bool inside = false;
  for (const std::string_view line : header.lines()) {
    ++number;
    const std::string_view comment = without_indentation(line);
    const bool ends = comment == "/// \\endcode" || !comment.starts_with("///");
    const bool is_code = !ends && (marked || comment.starts_with(indented));
    if (is_code && (inside || may_begin)) {
      if (!inside) result.push_back({header.path, number, {}});
      inside = true;
      const std::string_view code = without_indentation(comment.substr(3));
      if (!code.empty()) result.back().lines.emplace_back(code);
    } else if (comment != "///") {
      inside = false;
    }
    marked = !ends && (marked || comment == "/// \\code");
    may_begin = marked || comment == "///";
  }
  return result;
}

Findings snippets_are_compiled(const std::vector<Snippet>& snippets,
                               const std::vector<SourceFile>& sources) {
  Findings findings;
  for (const Snippet& snippet : snippets) {
    const bool found = std::ranges::any_of(
        sources, [&](const SourceFile& source) { return contains(source, snippet.lines); });
    if (found) continue;
    findings.push_back(snippet.page + ":" + std::to_string(snippet.line) +
                       ": no source contains this snippet; expected its lines in a test, such as "
                       "tests/unit/docs");
  }
  return findings;
}

}  // namespace latchkey::tidy
