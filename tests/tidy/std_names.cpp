// The rule about functions that have the name of a function of the standard library.
#include "std_names.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "plain_code.hpp"
#include "rules.hpp"

namespace latchkey::tidy {
namespace {

constexpr auto none = std::string_view::npos;

bool is_listed(std::string_view names, std::string_view name) {
  return !name.empty() && names.find(" " + std::string(name) + " ") != none;
}

struct Declaration {
  std::string_view name;        ///< empty: the line declares no free function
  std::string_view parameters;  ///< those on this line
};

/// The contents of a namespace are not indented, so a free function is declared in the first
/// column. Its name is the word before the first parenthesis, unless a class or a namespace
/// qualifies it.
Declaration declaration_in(std::string_view line) {
  const std::size_t attribute = line.starts_with("[[") ? line.find("]]") : none;
  if (attribute != none) {
    line.remove_prefix(std::min(line.find_first_not_of(' ', attribute + 2), line.size()));
  }
  if (line.empty() || !is_word_byte(line.front())) return {};
  const std::size_t open = line.find('(');
  if (open == none || line.substr(0, open).find('=') != none) {
    return {};
  }
  std::size_t begin = open;
  while (begin > 0 && is_word_byte(line[begin - 1])) --begin;
  const bool qualified = begin > 0 && std::string_view(" *&").find(line[begin - 1]) == none;
  if (qualified) return {};
  return {line.substr(begin, open - begin), line.substr(open)};
}

}  // namespace

Findings has_no_name_of_std(const SourceFile& file) {
  Findings findings;
  std::size_t number = 0;
  const SourceFile code{file.path, plain_code(file.text)};
  for (const std::string_view line : code.lines()) {
    ++number;
    const auto [name, parameters] = declaration_in(line);
    if (!is_listed(std_function_names, name)) continue;
    const bool takes_own = parameters.find("std::") == none;
    if (takes_own && is_listed(names_for_own_types, name)) continue;
    findings.push_back(file.path + ":" + std::to_string(number) + ": function '" +
                       std::string(name) +
                       "' has the name of a function of std, which a call finds as well; expected "
                       "another name");
  }
  return findings;
}

}  // namespace latchkey::tidy
