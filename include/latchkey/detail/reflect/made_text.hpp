// Values whose text is made on demand: types with latchkey_key, bytes, chrono's types.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/reflect/shape.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::reflect {

/// The source of a value's text.
enum class TextFrom : unsigned char {
  nothing,     // the value itself is a text or an integer, or makes no key
  hook,        // latchkey_key(const T&), found by its argument
  bytes,       // a container of std::byte or unsigned char: lower-case hexadecimal digits
  time,        // a duration or a time point of chrono
  wrong_hook,  // latchkey_key(const T&) that returns no text: an error of the program
};

// Looks up the hook. A conversion to AnyValue ranks equal to one to another type, so a hook is
// found for its own type and for types derived from it, and never because an argument converts to a
// type that has a hook.
namespace key_hook {

struct AnyValue {
  template <class T>
  AnyValue(const T&);  // NOLINT(google-explicit-constructor): that is its purpose
};
void latchkey_key(AnyValue) = delete;

template <class T>
concept Found = (std::is_class_v<T> || std::is_union_v<T> || std::is_enum_v<T>) &&
                requires(const T& value) { latchkey_key(value); };

template <Found T>
decltype(auto) call(const T& value) {
  return latchkey_key(value);
}

}  // namespace key_hook

namespace detail {

template <class T>
inline constexpr bool is_byte = std::is_same_v<T, std::byte> || std::is_same_v<T, unsigned char>;

template <class T>
constexpr TextFrom text_from_unqualified() {
  if constexpr (key_hook::Found<T>) {
    using Text = std::remove_cvref_t<decltype(key_hook::call(std::declval<const T&>()))>;
    return shape_of<Text> == Shape::text ? TextFrom::hook : TextFrom::wrong_hook;
  } else if constexpr (shape_of<T> == Shape::time) {
    return TextFrom::time;
  } else if constexpr (shape_of<T> == Shape::sequence) {
    return is_byte<element_type<T>> ? TextFrom::bytes : TextFrom::nothing;
  } else {
    return TextFrom::nothing;
  }
}

}  // namespace detail

/// T as for shape_of.
template <class T>
inline constexpr TextFrom text_from = detail::text_from_unqualified<std::remove_cv_t<T>>();

/// The compile error of a TextFrom::wrong_hook. static_assert takes a literal.
#define LATCHKEY_DETAIL_WRONG_HOOK                                        \
  "latchkey: latchkey_key(const T&) gives the text of a key: it returns " \
  "std::string, std::string_view or const char*"

/// A number of ticks; each is `seconds`/`parts` of a second. `parts` is a power of ten.
struct Ticks {
  std::uint64_t count;
  bool negative;
  std::uint64_t seconds;
  std::uint64_t parts;
};

/// The text of one time, stored inline.
struct TimeText {
  char bytes[80];
  std::size_t size = 0;

  [[nodiscard]] std::string_view view() const noexcept { return {bytes, size}; }
};

/// "90s", "1.5s", "-0.000000001s": seconds, with as many decimal places as needed.
TimeText duration_text(Ticks length) noexcept;

/// ISO 8601 without colons, in UTC: "20240501T120000Z", "20240501T120000.25Z".
TimeText instant_text(Ticks since_1970) noexcept;

namespace detail {

template <class Duration>
constexpr Ticks ticks_of(const Duration& length) {
  using Period = typename Duration::period;
  const auto count = length.count();
  const auto bits = static_cast<std::uint64_t>(count);
  const bool negative = count < decltype(count)(0);
  return {negative ? 0 - bits : bits, negative, static_cast<std::uint64_t>(Period::num),
          static_cast<std::uint64_t>(Period::den)};
}

template <class T>
TimeText time_text(const T& time) {
  if constexpr (!TimePoint<T>) {
    return duration_text(ticks_of(time));
  } else if constexpr (requires { &T::clock::to_time_t; }) {  // std::chrono::system_clock
    return instant_text(ticks_of(time.time_since_epoch()));
  } else {
    return duration_text(ticks_of(time.time_since_epoch()));
  }
}

template <class T, class Receive>
void with_hex(const T& bytes, Receive&& receive) {
  constexpr char digits[] = "0123456789abcdef";
  constexpr std::size_t most_in_place = 64;
  char in_place[2 * most_in_place];
  std::string elsewhere;
  const std::size_t count = size_of(bytes);
  char* text = in_place;
  if (count > most_in_place) {
    elsewhere.resize(2 * count);
    text = elsewhere.data();
  }
  std::size_t at = 0;
  for (const auto& byte : bytes) {
    const auto bits = static_cast<unsigned char>(byte);
    text[at++] = digits[bits >> 4];
    text[at++] = digits[bits & 15];
  }
  receive(std::string_view(text, at));
}

}  // namespace detail

/// Calls `receive` with the text, which is valid during the call. Its data() is null if a hook
/// returned a null pointer.
template <class T, class Receive>
void with_made_text(const T& value, Receive&& receive) {
  if constexpr (text_from<T> == TextFrom::hook) {
    const auto& text = key_hook::call(value);
    std::string_view view = text_of(text);
    if (!std::is_pointer_v<std::remove_cvref_t<decltype(text)>> && view.data() == nullptr) {
      view = "";
    }
    receive(view);
  } else if constexpr (text_from<T> == TextFrom::bytes) {
    detail::with_hex(value, std::forward<Receive>(receive));
  } else {
    receive(detail::time_text(value).view());
  }
}

}  // namespace latchkey::inline v1::reflect
#pragma GCC visibility pop
