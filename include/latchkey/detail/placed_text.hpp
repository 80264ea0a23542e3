// A text of a macro and the place where it is written, as the type of a captureless lambda.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <source_location>
#include <string_view>

#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The value that the lambda of a macro returns. The type of the lambda stands for the text and the
/// place in templates, so that the names of their instances do not spell the text.
struct PlacedText {
  std::string_view text;  ///< ends with a NUL that it does not count
  std::source_location place;
  const char* terms = "";  ///< the words after the key of LOCKED, as they are written

  [[nodiscard]] consteval PlacedText with(const char* written) const {
    return {text, place, written};
  }
  [[nodiscard]] constexpr const char* c_str() const noexcept { return text.data(); }
};

/// Its default argument is the place of the call.
consteval PlacedText placed(std::string_view text,
                            const std::source_location& place = std::source_location::current()) {
  return {text, place};
}

/// A text without a place, for code that uses no macro.
template <FixedString Text>
struct Literal {
  consteval PlacedText operator()() const noexcept { return {Text.view(), {}}; }
};

/// A text whose place is returned by `Where`.
template <FixedString Text, class Where>
struct LiteralAt {
  constexpr PlacedText operator()() const noexcept { return {Text.view(), Where{}()}; }
};

/// Returns the place of `Text`.
template <class Text>
struct PlaceOf {
  constexpr std::source_location operator()() const noexcept { return Text{}().place; }
};

template <class Text>
consteval std::string_view text_of() {
  return Text{}().text;
}

/// The text as a template argument, for the names of error types.
template <class Text>
inline constexpr FixedString<text_of<Text>().size()> spelled{text_of<Text>()};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
