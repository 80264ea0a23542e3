// A UUID as the usual 36 characters.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace latchkey::inline v1::detail {

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

/// The inverse of write_uuid. Empty: the text is not exactly what it writes.
inline std::optional<std::array<std::uint64_t, 2>> read_uuid(std::string_view text) noexcept {
  std::array<std::uint64_t, 2> uuid{};
  std::size_t digits = 0;
  for (const char letter : text) {
    const auto digit = std::string_view("0123456789abcdef").find(letter);
    if (digit == std::string_view::npos) continue;
    if (digits >= 32) return std::nullopt;
    uuid[digits / 16] = (uuid[digits / 16] << 4) | digit;
    ++digits;
  }
  std::array<char, uuid_text_size> exact{};
  write_uuid(exact.data(), uuid);
  if (std::string_view(exact.data(), exact.size()) != text) return std::nullopt;
  return uuid;
}

}  // namespace latchkey::inline v1::detail
