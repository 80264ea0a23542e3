// Reads any bytes as latchkey.yaml. Each error has a place in the text and contains no secret.
//
// Covers: src/policy
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/require.hpp"
#include "policy/method_pattern.hpp"
#include "policy/reader.hpp"

namespace {

using latchkey::detail::Place;
using latchkey::detail::PolicyFile;
using latchkey::detail::Problems;
using latchkey::fuzz::require;

constexpr std::string_view password = "hunter2-and-more";

std::optional<std::string> environment(const std::string& name) {
  if (name == "E") return "";
  if (name == "SECRET") return std::string(password);
  if (name == "HARD") return "a b/" + std::string(password);
  if (name == "PATH") return latchkey::detail::process_environment(name);
  return std::nullopt;
}

void require_place(Place at, std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  require(at.line >= 0 && at.line <= lines + 1 && at.column >= 0);
}

/// Whatever was understood means something, and stands somewhere.
void require_sense(const PolicyFile& file, std::string_view text) {
  for (const auto& backend : file.backends) {
    require(!backend.name.value.empty());
    for (const auto& secret : backend.secrets) require(!secret.value.empty());
    const std::string shown = latchkey::detail::without_secrets(backend.uri.value, backend.secrets);
    require(text.find(password) != std::string_view::npos ||
            shown.find(password) == std::string::npos);
  }
  for (const auto& policy : file.policies) require_place(policy.name.at, text);
  for (const auto& rule : file.rules) {
    require_place(rule.pattern.at, text);
    const std::string& pattern = rule.pattern.value;
    require(!latchkey::detail::is_more_specific(pattern, pattern));
    // A pattern without a star names what it spells, and that is the most specific of all.
    if (pattern.find('*') == std::string::npos) {
      require(latchkey::detail::names_method(pattern, "outer::" + pattern));
    } else {
      static_cast<void>(latchkey::detail::names_method(pattern, "shop::Bank::deposit"));
    }
    for (const auto& other : file.rules) {
      require(!latchkey::detail::is_more_specific(pattern, other.pattern.value) ||
              !latchkey::detail::is_more_specific(other.pattern.value, pattern));
    }
  }
  if (const auto* backend = file.default_backend()) require_place(backend->name.at, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Problems problems;
  const PolicyFile file = latchkey::detail::read_policies(text, environment, problems);
  for (const auto& problem : problems) {
    require(!problem.sentence.empty());
    require_place(problem.at, text);
    require(text.find(password) != std::string_view::npos ||
            problem.sentence.find(password) == std::string::npos);
  }
  require_sense(file, text);
  Problems again;
  static_cast<void>(latchkey::detail::read_policies(text, environment, again));
  require(again.size() == problems.size());
  return 0;
}
