// A UUID as the usual 36 characters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace latchkey::detail {

inline constexpr std::size_t uuid_text_size = 36;

/// Writes 8-4-4-4-12 hexadecimal digits, the most significant half first, and returns the end of
/// the text. `out` has room for uuid_text_size characters.
inline char* write_uuid(char* out, const std::array<std::uint64_t, 2>& uuid) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int at = 0; at < 32; ++at) {
    if (at == 8 || at == 12 || at == 16 || at == 20) *out++ = '-';
    const std::uint64_t half = uuid[at < 16 ? 0 : 1];
    *out++ = digits[(half >> (4 * (15 - at % 16))) & 0xF];
  }
  return out;
}

}  // namespace latchkey::detail
