// The id of one hold at the backend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// `<uuid of the Locks>:<number>`: the id of one hold at the backend. An id is never used again
/// after a release was sent for it.
///
/// The format is Redisson's owner id (uuid, colon, decimal thread id), so Java clients can read it.
/// The number belongs to the hold and not to a thread, so a delayed release can never free a later
/// hold.
struct HoldId {
  std::array<std::uint64_t, 2> space{};  ///< the UUID, most significant half first
  std::uint64_t number = 0;              ///< 1, 2, 3, … for each Locks; 0: no hold

  /// 36 characters of UUID, a colon, and the number in decimal.
  [[nodiscard]] std::string text() const;

  /// The id with that text. Empty: the text is not that of an id, in exactly this format.
  [[nodiscard]] static std::optional<HoldId> parse(std::string_view text) noexcept;

  /// A random UUID for new Locks. Its version is 8 (RFC 9562), which distinguishes latchkey's ids
  /// from Redisson's, whose UUIDs have version 4. Throws what std::random_device throws.
  [[nodiscard]] static std::array<std::uint64_t, 2> new_space();

  // Compares word by word, and the number first because it differs most often. The default
  // comparison of an array calls memcmp.
  friend constexpr bool operator==(const HoldId& left, const HoldId& right) noexcept {
    return left.number == right.number && left.space[0] == right.space[0] &&
           left.space[1] == right.space[1];
  }
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
