// The text of hold ids, and new UUIDs.
#include <latchkey/hold_id.hpp>

#include <array>
#include <charconv>
#include <random>

#include "core/uuid_text.hpp"

namespace latchkey {

std::string HoldId::text() const {
  constexpr std::size_t most_digits = 20;
  std::array<char, detail::uuid_text_size + 1 + most_digits> text;
  char* end = detail::write_uuid(text.data(), space);
  *end++ = ':';
  end = std::to_chars(end, text.data() + text.size(), number).ptr;
  return {text.data(), end};
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
