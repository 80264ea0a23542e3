// The texts that LOCKED accepts as a key.
#pragma once

#include <cstddef>
#include <string_view>

#include <latchkey/fixed_string.hpp>

namespace latchkey::detail {

template <class T>
inline constexpr bool never = false;

/// Separates the keys of KEYS in their joined text. No key contains it.
inline constexpr char between_keys = '\0';

/// The keys of KEYS separated by spaces, for messages.
template <FixedString Text>
inline constexpr auto shown_keys = [] {
  auto shown = Text;
  for (std::size_t at = 0; at < shown.size(); ++at) {
    if (shown.data[at] == between_keys) shown.data[at] = ' ';
  }
  return shown;
}();

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

/// Returns a literal unchanged and KEYS as its joined texts; anything else is a compile error.
template <std::size_t N>
consteval FixedString<N - 1> key_text(const char (&literal)[N]) {
  return checked_key(literal);
}
template <std::size_t N>
consteval FixedString<N> key_text(const KeyList<N>& list) {
  return list.joined;
}
template <class T>
  requires(!is_key_list<T>)
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

/// The argument of LOCKED_BY: the name of a policy, as a literal.
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
