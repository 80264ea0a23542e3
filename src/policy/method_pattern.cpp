// Patterns that name methods.
// SPDX-License-Identifier: BSL-1.0
#include "policy/method_pattern.hpp"

#include <cstddef>

namespace latchkey::inline v1::detail {
namespace {

constexpr std::size_t npos = std::string_view::npos;

/// Greedy matching that backtracks to the last * only, which then takes one letter more.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = npos;
  std::size_t from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != npos && !text.substr(from).starts_with("::")) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool names_method(std::string_view pattern, std::string_view method) {
  if (method.empty()) return false;
  while (true) {
    if (fits(pattern, method)) return true;
    const std::size_t colons = method.find("::");
    if (colons == npos) return false;
    method.remove_prefix(colons + 2);
  }
}

bool is_more_specific(std::string_view special, std::string_view general) {
  // In `special`, a * counts as a letter that only a * of `general` matches.
  return names_method(general, special) && !names_method(special, general);
}

}  // namespace latchkey::inline v1::detail
