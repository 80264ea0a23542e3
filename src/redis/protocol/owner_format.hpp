// The ids of holds and permits as Redis stores them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <latchkey/hold_id.hpp>

namespace latchkey::inline v1::detail::redis {

/// | format  | text of an owner                                                             |
/// |---------|------------------------------------------------------------------------------|
/// | hold_id | HoldId::text()                                                               |
/// | redlock | 22 letters and digits, as redlock-py: a number of 128 bits in base 62        |
/// | redsync | 24 characters, as redsync: 16 bytes in base64                                |
///
/// A hold id has 192 bits, so the two short formats hold a hash of 128 bits: the number of the
/// hold, encrypted with the UUID of the Locks as the key. Two holds of one Locks never have the
/// same hash. Those of two Locks have it as rarely as two random UUIDs are the same.
enum class OwnerFormat : std::uint8_t { hold_id, redlock, redsync };

/// The text of an owner, without an allocation.
class OwnerText {
 public:
  explicit OwnerText(const HoldId& id, OwnerFormat format = OwnerFormat::hold_id) noexcept;
  operator std::string_view() const noexcept { return {text_.data(), size_}; }  // NOLINT

 private:
  std::array<char, 36 + 1 + 20> text_;
  std::size_t size_;
};

/// The id of the first permit of a hold: 16 raw bytes, as Redisson's. 8 are a hash of the UUID of
/// the Locks. The other 8 are the number of the hold, which is below 2^54, times 1 024: the permits
/// of one hold are numbered in the last 10 bits (lua/parts/permits.lua). So two holds of one Locks
/// never have the same permit, and those of two Locks as rarely as two random numbers of 64 bits
/// are the same.
class PermitId {
 public:
  explicit PermitId(const HoldId& id) noexcept {
    // UUIDs have fixed bits in both halves, in different places.
    const std::uint64_t turned = id.space[1] << 32 | id.space[1] >> 32;
    write(0, id.space[0] ^ turned);
    write(8, id.number << 10);
  }
  operator std::string_view() const noexcept { return {bytes_.data(), bytes_.size()}; }  // NOLINT

  /// The 32 hexadecimal digits in which people, and Redisson's users, read an id.
  [[nodiscard]] static std::string text_of(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char byte : bytes) {
      const auto value = static_cast<unsigned char>(byte);
      text += digits[value >> 4];
      text += digits[value & 0xF];
    }
    return text;
  }

 private:
  void write(std::size_t at, std::uint64_t value) noexcept {
    for (std::size_t byte = 0; byte < 8; ++byte) {
      bytes_[at + byte] = static_cast<char>(value >> (56 - 8 * byte) & 0xFF);
    }
  }

  std::array<char, 16> bytes_;
};

}  // namespace latchkey::inline v1::detail::redis
