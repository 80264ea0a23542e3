// Hold ids as text, and fresh UUIDs.
#include <latchkey/hold_id.hpp>

#include <random>

namespace latchkey {

std::string HoldId::text() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(36 + 1 + 20);
  for (int nibble = 0; nibble < 32; ++nibble) {
    if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20) text += '-';
    const std::uint64_t half = space[nibble < 16 ? 0 : 1];
    text += digits[(half >> (4 * (15 - nibble % 16))) & 0xF];
  }
  text += ':';
  text += std::to_string(number);
  return text;
}

std::array<std::uint64_t, 2> HoldId::new_space() {
  std::random_device entropy;
  const auto half = [&] { return (std::uint64_t{entropy()} << 32) | entropy(); };
  std::array<std::uint64_t, 2> space{half(), half()};
  space[0] = (space[0] & ~std::uint64_t{0xF000}) | 0x8000;                       // version 8
  space[1] = (space[1] & ~(std::uint64_t{3} << 62)) | (std::uint64_t{2} << 62);  // variant 1
  return space;
}

}  // namespace latchkey
