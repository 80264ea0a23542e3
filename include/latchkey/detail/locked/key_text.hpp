// The texts that LOCKED accepts as a key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <source_location>
#include <string_view>

#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

template <class T>
inline constexpr bool never = false;

/// Separates the keys of KEYS in their joined text. No key contains it.
inline constexpr char between_keys = '\0';

/// Not constexpr: a call of it is a compile error, and its name is the message.
void a_key_has_no_zero_byte();

template <std::size_t N>
consteval FixedString<N - 1> checked_key(const char (&literal)[N]) {
  const FixedString<N - 1> text(literal);
  if (text.view().find(between_keys) != std::string_view::npos) a_key_has_no_zero_byte();
  return text;
}

/// KEYS("a:{x}", "b:{y}"): several keys as one text.
template <std::size_t N>
struct KeyList {
  FixedString<N> joined;
};
template <std::size_t First, std::size_t... More>
consteval auto keys(const char (&first)[First], const char (&... more)[More]) {
  KeyList<(First + ... + More) - 1> list{};
  char* place = list.joined.data;
  const auto add = [&](std::string_view text) {
    if (place != list.joined.data) *place++ = between_keys;
    for (const char letter : text) *place++ = letter;
  };
  add(checked_key(first).view());
  (add(checked_key(more).view()), ...);
  return list;
}
template <class First, class... More>
consteval KeyList<3> keys(const First&, const More&...) {
  static_assert(never<First>,
                "latchkey: KEYS takes literals, each a key that is checked when it is compiled, as "
                "in KEYS(\"account:{from.id}\", \"account:{to.id}\"); what changes goes into "
                "braces");
  return {{"key"}};
}
template <class T = void>
consteval KeyList<3> keys() {
  static_assert(never<T>,
                "latchkey: KEYS needs keys, as in KEYS(\"account:{from.id}\", "
                "\"account:{to.id}\")");
  return {{"key"}};
}

template <class T>
inline constexpr bool is_key_list = false;
template <std::size_t N>
inline constexpr bool is_key_list<KeyList<N>> = true;

/// The value that the lambda of LOCKED(KEYS(...)) returns.
template <std::size_t N>
struct PlacedKeys {
  FixedString<N> joined;
  std::source_location place;
  const char* terms = "";  ///< as in PlacedText

  [[nodiscard]] consteval PlacedKeys with(const char* written) const {
    return {joined, place, written};
  }
};

/// Whether LOCKED can have this key: a literal or KEYS; anything else is a compile error. The macro
/// asks before it writes the key into a lambda, where the error would be about captures.
template <std::size_t N>
consteval bool is_key(const char (&)[N]) {
  return true;
}
template <std::size_t N>
consteval bool is_key(const KeyList<N>&) {
  return true;
}
template <class T>
  requires(!is_key_list<T>)
consteval bool is_key(const T&) {
  static_assert(never<T>,
                "latchkey: the key of LOCKED is a literal, checked when it is compiled, as in "
                "LOCKED(\"account:{account.id}\"); what changes goes into braces");
  return true;
}
template <class T = void>
consteval bool is_key() {
  static_assert(never<T>, "latchkey: LOCKED needs a key, as in LOCKED(\"account:{account.id}\")");
  return true;
}

/// The result of the lambda of LOCKED. The default argument is the place of the call.
template <std::size_t N>
consteval PlacedText placed_key(
    const char (&literal)[N], const std::source_location& place = std::source_location::current()) {
  const std::string_view text(literal, N - 1);
  if (text.find(between_keys) != std::string_view::npos) a_key_has_no_zero_byte();
  return {text, place};
}
template <std::size_t N>
consteval PlacedKeys<N> placed_key(
    const KeyList<N>& list, const std::source_location& place = std::source_location::current()) {
  return {list.joined, place};
}
/// After an error of is_key().
template <class... T>
consteval PlacedText placed_key(const T&...) {
  return {"key", {}};
}

/// Whether LOCKED_BY can have this argument: the name of a policy, as a literal.
template <std::size_t N>
consteval bool is_policy(const char (&)[N]) {
  static_assert(N > 1,
                "latchkey: LOCKED_BY needs the name of a policy, as in LOCKED_BY(\"money\")");
  return true;
}
template <class T>
consteval bool is_policy(const T&) {
  static_assert(never<T>,
                "latchkey: LOCKED_BY takes the name of a policy as a literal, as in "
                "LOCKED_BY(\"money\"): it is looked up when latchkey.yaml is loaded");
  return true;
}
template <class First, class Second, class... Rest>
consteval bool is_policy(const First&, const Second&, const Rest&...) {
  static_assert(never<First>,
                "latchkey: LOCKED_BY takes the name of a policy and nothing else: key, type, wait "
                "and lease stand in latchkey.yaml, under policies");
  return true;
}
template <class T = void>
consteval bool is_policy() {
  static_assert(never<T>,
                "latchkey: LOCKED_BY needs the name of a policy, as in LOCKED_BY(\"money\")");
  return true;
}

/// The result of the lambda of LOCKED_BY.
template <std::size_t N>
consteval PlacedText placed_policy(
    const char (&literal)[N], const std::source_location& place = std::source_location::current()) {
  return {{literal, N - 1}, place};
}
/// After an error of is_policy().
template <class... T>
consteval PlacedText placed_policy(const T&...) {
  return {"?", {}};
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
