// The text of hold ids, and new UUIDs.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/hold_id.hpp>

#include <array>
#include <charconv>
#include <random>
#include <system_error>

#include "core/uuid_text.hpp"

namespace latchkey::inline v1 {

std::string HoldId::text() const {
  constexpr std::size_t most_digits = 20;
  std::array<char, detail::uuid_text_size + 1 + most_digits> text;
  char* end = detail::write_uuid(text.data(), space);
  *end++ = ':';
  end = std::to_chars(end, text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

std::optional<HoldId> HoldId::parse(std::string_view text) noexcept {
  if (text.size() <= detail::uuid_text_size) return std::nullopt;
  HoldId id;
  const auto uuid = detail::read_uuid(text.substr(0, detail::uuid_text_size));
  if (!uuid || text[detail::uuid_text_size] != ':') return std::nullopt;
  id.space = *uuid;
  const char* const end = text.data() + text.size();
  const char* const digits = text.data() + detail::uuid_text_size + 1;
  const auto [stop, error] = std::from_chars(digits, end, id.number);
  const bool has_zeros = end - digits > 1 && *digits == '0';
  if (error != std::errc() || stop != end || has_zeros) return std::nullopt;
  return id;
}

std::array<std::uint64_t, 2> HoldId::new_space() {
  std::random_device entropy;
  const auto half = [&] { return (std::uint64_t{entropy()} << 32) | entropy(); };
  std::array<std::uint64_t, 2> space{half(), half()};
  space[0] = (space[0] & ~std::uint64_t{0xF000}) | 0x8000;                       // version 8
  space[1] = (space[1] & ~(std::uint64_t{3} << 62)) | (std::uint64_t{2} << 62);  // variant 1
  return space;
}

}  // namespace latchkey::inline v1
