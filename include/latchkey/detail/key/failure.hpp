// Why a value has no text, found while a key is rendered.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

enum class Reason : std::uint8_t {
  none,
  absent,      // an empty optional, a null pointer
  empty,       // an empty text
  no_element,  // an index beyond the end, a key that the map does not have
};

/// The path that failed; node 0: none did.
struct Failure {
  std::uint16_t node = 0;
  Reason reason = Reason::none;

  constexpr explicit operator bool() const { return node != 0; }
};

/// Throws KeyError: the value at `path` is absent.
[[noreturn]] void throw_failure(std::string_view key_template, std::string_view path,
                                Reason reason);

/// Throws KeyError: the rendered key is longer than max_key_size.
[[noreturn]] void throw_too_long(std::string_view key_template);

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
