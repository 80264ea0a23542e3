// The keys that a thread has used lately.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>

namespace latchkey::inline v1::detail {

/// The hashes of the keys that the calling thread has used last, at most one of those that share a
/// place. A key that is used again soon is likely to be used once more.
class RecentKeys {
 public:
  /// Notes a use. Returns whether the key was there already.
  static bool note(std::size_t hash) noexcept {
    std::size_t& place = last_[(hash >> 32) % last_.size()];
    const bool was_there = place == hash;
    place = hash;
    return was_there;
  }

 private:
  static constinit inline thread_local std::array<std::size_t, 8> last_{};
};

}  // namespace latchkey::inline v1::detail
