// The name of a type as the compiler spells it: for messages, never for decisions.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

namespace latchkey::reflect {
namespace detail {

template <class T>
constexpr std::string_view pretty_function() {
  return __PRETTY_FUNCTION__;
}

}  // namespace detail

/// The spelling differs between compilers and may change with their versions.
template <class T>
constexpr std::string_view type_name() {
  // Both compilers put the same text around every T, so a known T gives the lengths of that text.
  constexpr std::string_view known = detail::pretty_function<void>();
  constexpr std::size_t before = known.find("void", known.find("T = "));
  constexpr std::size_t after = known.size() - before - 4;
  constexpr std::string_view all = detail::pretty_function<T>();
  return all.substr(before, all.size() - before - after);
}

}  // namespace latchkey::reflect
