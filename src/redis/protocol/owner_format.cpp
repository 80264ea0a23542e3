// How owners are spelled on the server.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/owner_format.hpp"

#include <charconv>

#include "core/uuid_text.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

/// 128 bits, most significant half first.
using Hash = std::array<std::uint64_t, 2>;

/// The finalizer of SplitMix64, in which every bit of the input affects every bit of the result.
std::uint64_t mix(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// A Feistel network is a permutation whatever its round function is: different numbers of one
/// space have different hashes.
Hash hash_of(const HoldId& id) noexcept {
  Hash block{id.number, 0};
  constexpr std::uint64_t rounds = 8, golden_ratio = 0x9e3779b97f4a7c15;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::uint64_t key = id.space[round % 2] + round * golden_ratio;
    block = {block[1], block[0] ^ mix(mix(block[1] ^ key) + key)};
  }
  return block;
}

/// The digits of the hash in base 62, with leading zeros: 62^22 > 2^128.
char* write_base62(char* out, const Hash& hash) noexcept {
  constexpr std::string_view digits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t count = 22;
  std::array<std::uint64_t, 4> limbs{hash[0] >> 32, hash[0] & 0xffffffff, hash[1] >> 32,
                                     hash[1] & 0xffffffff};
  for (std::size_t at = count; at-- > 0;) {
    std::uint64_t rest = 0;
    for (std::uint64_t& limb : limbs) {
      const std::uint64_t part = (rest << 32) | limb;
      limb = part / digits.size();
      rest = part % digits.size();
    }
    out[at] = digits[rest];
  }
  return out + count;
}

char* write_base64(char* out, const Hash& hash) noexcept {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t at) -> std::uint64_t {
    return at < 16 ? (hash[at / 8] >> (8 * (7 - at % 8))) & 0xff : 0;
  };
  for (std::size_t at = 0; at < 18; at += 3) {
    const std::uint64_t group = (byte(at) << 16) | (byte(at + 1) << 8) | byte(at + 2);
    for (const int shift : {18, 12, 6, 0}) *out++ = digits[(group >> shift) & 63];
  }
  out[-1] = out[-2] = '=';
  return out;
}

}  // namespace

OwnerText::OwnerText(const HoldId& id, OwnerFormat format) noexcept {
  char* end = text_.data();
  switch (format) {
    case OwnerFormat::hold_id:
      end = write_uuid(end, id.space);
      *end++ = ':';
      end = std::to_chars(end, text_.data() + text_.size(), id.number).ptr;
      break;
    case OwnerFormat::redlock: end = write_base62(end, hash_of(id)); break;
    case OwnerFormat::redsync: end = write_base64(end, hash_of(id)); break;
  }
  size_ = static_cast<std::size_t>(end - text_.data());
}

}  // namespace latchkey::inline v1::detail::redis
