// The name of one hold at the backend.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey {

/// `<uuid of the Locks>:<number>`: one remote hold, never used again after a release was sent for
/// it.
///
/// The shape is Redisson's owner id (uuid, colon, decimal thread id), so Java clients read it; the
/// number is that of the hold and not of a thread, so a delayed release can never free a later
/// hold.
struct HoldId {
  std::array<std::uint64_t, 2> space{};  ///< the UUID, most significant half first
  std::uint64_t number = 0;              ///< 1, 2, 3, … within the space; 0 is no hold

  /// 36 characters of UUID, a colon, and the number in decimal.
  [[nodiscard]] std::string text() const;

  /// A random UUID for a new space. Its version is 8 (RFC 9562), which tells latchkey's ids from
  /// Redisson's, whose UUIDs are of version 4. Throws what std::random_device throws.
  [[nodiscard]] static std::array<std::uint64_t, 2> new_space();

  // Word by word, the one first that tells most: compared by default, an array is a call of memcmp.
  friend constexpr bool operator==(const HoldId& left, const HoldId& right) noexcept {
    return left.number == right.number && left.space[0] == right.space[0] &&
           left.space[1] == right.space[1];
  }
};

}  // namespace latchkey
