// The module latchkey exports every public name of the headers.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <meta>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/annotations.hpp>
#include <latchkey/listeners.hpp>
#include <latchkey/policy.hpp>
#include <latchkey/quorum.hpp>
#include <latchkey/simple_backend.hpp>

namespace module_names_test {

/// The names of a namespace that programs may write, without nested namespaces.
consteval std::vector<const char*> names_in(std::meta::info scope) {
  std::vector<const char*> names;
  for (const std::meta::info member :
       members_of(scope, std::meta::access_context::unprivileged())) {
    if (is_namespace(member) || !has_identifier(member)) continue;
    if (identifier_of(member).starts_with("__")) continue;  // made by the compiler
    names.push_back(std::define_static_string(identifier_of(member)));
  }
  return names;
}

/// The names that the module's source lacks.
template <std::meta::info Scope>
std::vector<std::string> missing_names(const std::string& spelling) {
  std::ifstream file(LATCHKEY_MODULE_SOURCE);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  static constexpr auto names = std::define_static_array(names_in(Scope));
  std::vector<std::string> missing;
  for (const std::string_view name : names) {
    const std::string line = "\nusing " + spelling + "::" + std::string(name) + ";\n";
    if (!source.contains(line)) missing.push_back(line.substr(1));
  }
  return missing;
}

TEST(Module, ExportsEveryPublicName) {
  EXPECT_EQ(missing_names<^^latchkey::v1>("latchkey"), std::vector<std::string>());
  EXPECT_EQ(missing_names<^^latchkey::v1::strategy>("latchkey::strategy"),
            std::vector<std::string>());
  EXPECT_EQ(missing_names<^^latchkey::v1::reflect>("latchkey::reflect"),
            std::vector<std::string>());
}

}  // namespace module_names_test
