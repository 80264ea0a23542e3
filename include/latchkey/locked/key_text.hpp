// What LOCKED accepts as a key.
#pragma once

#include <cstddef>
#include <type_traits>

#include <latchkey/fixed_string.hpp>

namespace latchkey::detail {

/// KEYS("a:{x}", "b:{y}"): several keys.
struct KeyList {};
template <class... Texts>
consteval KeyList keys(const Texts&...) {
  return {};
}

template <class T>
inline constexpr bool never = false;

/// A literal passes as it is; anything else is answered with a sentence.
template <std::size_t N>
consteval FixedString<N - 1> key_text(const char (&literal)[N]) {
  return FixedString<N - 1>(literal);
}
template <class List>
  requires std::is_same_v<List, KeyList>
consteval FixedString<3> key_text(List) {
  static_assert(
      never<List>,
      "latchkey: KEYS(...) locks several keys at once, which LOCKED does not do yet: nest "
      "two LOCKED, LOCKED(\"a\") | LOCKED(\"b\"), in the same order everywhere");
  return "key";
}
template <class T>
  requires(!std::is_same_v<T, KeyList>)
consteval FixedString<3> key_text(const T&) {
  static_assert(never<T>,
                "latchkey: the key of LOCKED is a literal, checked when it is compiled, as in "
                "LOCKED(\"account:{account.id}\"); what changes goes into braces");
  return "key";
}
template <class T = void>
consteval FixedString<3> key_text() {
  static_assert(never<T>, "latchkey: LOCKED needs a key, as in LOCKED(\"account:{account.id}\")");
  return "key";
}

/// What LOCKED_BY accepts: the name of a policy, as a literal.
template <std::size_t N>
consteval FixedString<N - 1> policy_name(const char (&literal)[N]) {
  static_assert(N > 1,
                "latchkey: LOCKED_BY needs the name of a policy, as in LOCKED_BY(\"money\")");
  return FixedString<N - 1>(literal);
}
template <class T>
consteval FixedString<1> policy_name(const T&) {
  static_assert(never<T>,
                "latchkey: LOCKED_BY takes the name of a policy as a literal, as in "
                "LOCKED_BY(\"money\"): it is looked up when latchkey.yaml is loaded");
  return "?";
}
template <class First, class Second, class... Rest>
consteval FixedString<1> policy_name(const First&, const Second&, const Rest&...) {
  static_assert(never<First>,
                "latchkey: LOCKED_BY takes the name of a policy and nothing else: key, type, wait "
                "and lease stand in latchkey.yaml, under policies");
  return "?";
}
template <class T = void>
consteval FixedString<1> policy_name() {
  static_assert(never<T>,
                "latchkey: LOCKED_BY needs the name of a policy, as in LOCKED_BY(\"money\")");
  return "?";
}

}  // namespace latchkey::detail
