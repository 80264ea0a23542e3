// How owners are spelled on the server.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

}  // namespace latchkey::inline v1::detail::redis
