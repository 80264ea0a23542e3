// Glob patterns over keys.
// SPDX-License-Identifier: BSL-1.0
#include "core/text/glob.hpp"

#include <cstddef>
#include <utility>

namespace latchkey::inline v1::detail {
namespace {

/// Matches one byte against the set after a `[`; moves `at` past the `]`.
bool set_matches(std::string_view pattern, std::size_t& at, char byte) noexcept {
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  bool found = false;
  for (bool first = true; at < pattern.size() && (pattern[at] != ']' || first); first = false) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    auto low = static_cast<unsigned char>(pattern[at++]);
    auto high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = static_cast<unsigned char>(pattern[at + 1]);
      at += 2;
    }
    if (low > high) std::swap(low, high);
    const auto value = static_cast<unsigned char>(byte);
    found = found || (low <= value && value <= high);
  }
  if (at < pattern.size()) ++at;
  return found != negated;
}

/// Matches one byte against the element at `at`, which is not `*`, and moves `at` past it.
bool element_matches(std::string_view pattern, std::size_t& at, char byte) noexcept {
  const char element = pattern[at++];
  if (element == '?') return true;
  if (element == '[') return set_matches(pattern, at, byte);
  if (element == '\\' && at < pattern.size()) return pattern[at++] == byte;
  return element == byte;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
  constexpr auto none = std::string_view::npos;
  std::size_t at = 0, done = 0;
  // After a mismatch the last `*` matches one byte more. Earlier ones need no retry: the last one
  // can match whatever they could.
  std::size_t star = none, swallowed = 0;
  while (done < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      swallowed = done;
      continue;
    }
    if (at < pattern.size() && element_matches(pattern, at, text[done])) {
      ++done;
      continue;
    }
    if (star == none) return false;
    at = star;
    done = ++swallowed;
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace latchkey::inline v1::detail
