// The rule that a name stands for one type.
#include "type_names.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "exceptions.hpp"
#include "plain_code.hpp"
#include "rules.hpp"

namespace latchkey::tidy {
namespace {

/// The text before a brace that opens a namespace. An inline namespace may be a part of the name.
const std::regex opens_namespace(R"(^(?:inline\s+)?namespace(?:\s+([\w:\s]+?))?\s*$)");
/// The text before a brace that opens a type. A specialization has other text behind its name.
const std::regex opens_type(
    R"(^(?:template[\s\S]*>\s*)?(?:struct|class|union|enum(?:\s+class)?)\s+)"
    R"((?:\[\[.*?\]\]\s*|LATCHKEY_\w+(?:\([^)]*\))?\s+)*(\w+)\s*(?:final\s*)?(?::[^:][\s\S]*)?$)");

std::string without_inline(const std::string& name) {
  return std::regex_replace(name, std::regex(R"(inline\s+\w+::|::inline\s+\w+|\s)"), "");
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \n");
  return first == std::string::npos ? std::string() : text.substr(first);
}

/// One brace that is open.
struct Scope {
  bool is_namespace;
  std::string name;
};

std::string joined(const std::vector<Scope>& scopes, const std::string& name) {
  std::string all;
  for (const Scope& scope : scopes) all += scope.name + "::";
  return all + name;
}

Scope scope_behind(const std::string& head) {
  std::smatch found;
  if (!std::regex_match(head, found, opens_namespace)) return {false, ""};
  return {true, without_inline(found[1].str())};
}

}  // namespace

std::vector<std::string> types_defined_in(const SourceFile& file) {
  std::vector<std::string> types;
  std::vector<Scope> scopes;
  std::string head;
  for (const char letter : plain_code(file.text)) {
    if (letter == '{') {
      const bool seen_by_others = std::ranges::all_of(
          scopes, [](const Scope& scope) { return scope.is_namespace && !scope.name.empty(); });
      std::smatch type;
      const std::string text = trimmed(head);
      if (seen_by_others && std::regex_match(text, type, opens_type)) {
        types.push_back(joined(scopes, type[1].str()));
      }
      scopes.push_back(seen_by_others ? scope_behind(text) : Scope{false, ""});
    } else if (letter == '}' && !scopes.empty()) {
      scopes.pop_back();
    }
    const bool ends_head = letter == '{' || letter == '}' || letter == ';';
    ends_head ? head.clear() : head.push_back(letter);
  }
  return types;
}

Findings names_stand_for_one_type(const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> first;
  Findings findings;
  for (const SourceFile& file : files) {
    if (!file.path.starts_with("src/") && !file.path.starts_with("include/")) continue;
    for (const std::string& type : types_defined_in(file)) {
      const auto [known, added] = first.emplace(type, file.path);
      const bool is_other = !added && known->second != file.path;
      if (!is_other || std::ranges::find(types_of_two_headers, type) != types_of_two_headers.end())
        continue;
      findings.push_back(file.path + ": " + type + " is a type of " + known->second +
                         ", too; expected another name");
    }
  }
  return findings;
}

}  // namespace latchkey::tidy
