// A string that can be a template argument: key templates, argument names, field names.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Implicit from a string literal, so that `Key<"account:{account.id}">` compiles. The members are
/// public only because a structural type requires it.
template <std::size_t N>
struct FixedString {
  char data[N + 1] = {};

  constexpr FixedString() = default;

  // NOLINTNEXTLINE(google-explicit-constructor): a literal is what users write
  constexpr FixedString(const char (&text)[N + 1]) {
    for (std::size_t i = 0; i < N; ++i) data[i] = text[i];
  }

  /// The first N bytes of `text`, which must be at least that long.
  constexpr explicit FixedString(std::string_view text) {
    for (std::size_t i = 0; i < N; ++i) data[i] = text[i];
  }

  [[nodiscard]] static constexpr std::size_t size() { return N; }
  [[nodiscard]] constexpr std::string_view view() const { return {data, N}; }
};

template <std::size_t N>
FixedString(const char (&)[N]) -> FixedString<N - 1>;

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
