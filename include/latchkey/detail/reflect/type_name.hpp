// The name of a type as the compiler spells it: for messages, never for decisions.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {
namespace detail {

template <class T>
constexpr std::string_view pretty_function() {
  return __PRETTY_FUNCTION__;
}

template <class T>
constexpr std::string_view compilers_name() {
  // A known T gives the length of what follows T. What precedes it differs: clang leaves the
  // namespace of the ABI out, but not always.
  constexpr std::string_view opens = "T = ";
  constexpr std::string_view known = pretty_function<void>();
  constexpr std::size_t after = known.size() - known.find("void", known.find(opens)) - 4;
  constexpr std::string_view all = pretty_function<T>();
  constexpr std::size_t before = all.find(opens) + opens.size();
  return all.substr(before, all.size() - before - after);
}

/// Programs do not spell the namespace of the ABI: of this prefix only "latchkey::" is kept.
inline constexpr std::string_view abi_prefix = "latchkey::v1::";
inline constexpr std::size_t kept_length = std::string_view("latchkey::").size();

/// The name of a type of latchkey's, or one made of it, without the namespace of the ABI.
template <class T>
struct SpelledName {
  static constexpr std::string_view from = compilers_name<T>();
  static constexpr std::size_t count = [] {
    std::size_t found = 0;
    for (auto at = from.find(abi_prefix); at != from.npos; at = from.find(abi_prefix, at + 1))
      ++found;
    return found;
  }();
  static constexpr std::size_t length = from.size() - count * (abi_prefix.size() - kept_length);
  static constexpr auto chars = [] {
    std::array<char, length> result{};
    auto out = result.begin();
    for (std::size_t at = 0; at < from.size();) {
      const bool skips = from.substr(at).starts_with(abi_prefix);
      out = std::copy_n(from.begin() + at, skips ? kept_length : 1, out);
      at += skips ? abi_prefix.size() : 1;
    }
    return result;
  }();
};

}  // namespace detail

/// The spelling differs between compilers and may change with their versions.
template <class T>
constexpr std::string_view type_name() {
  constexpr std::string_view name = detail::compilers_name<T>();
  if constexpr (name.find(detail::abi_prefix) == name.npos) {
    return name;
  } else {
    constexpr auto& spelled = detail::SpelledName<T>::chars;
    return {spelled.data(), spelled.size()};
  }
}

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
