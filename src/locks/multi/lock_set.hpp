// Several locks in the order in which every thread acquires them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

namespace latchkey::inline v1::detail {

class SpaceRef;
class LockSpace;

/// One of several locks.
struct LockMember {
  std::shared_ptr<SpaceRef> space;
  std::string key;  ///< with its prefix
  LockType type = LockType::REENTRANT;
  std::optional<Owner> owner{};  ///< empty: the calling thread
};

/// Several locks, each once, sorted by the bytes of their keys and then by backend. Two sets of the
/// same locks have the same order, in every process that spells the backends' URIs alike: so
/// threads that acquire them one after the other do not deadlock. Immutable.
class LockSet {
 public:
  static constexpr std::size_t most = 1'000;

  /// Throws KeyError if there is no member, if there are more than 1 000, or if one key is named
  /// with two types or for two owners.
  explicit LockSet(std::vector<LockMember> members);

  [[nodiscard]] std::span<const LockMember> members() const noexcept { return members_; }

  /// Where each of the given locks is among members(), in the order in which they were given.
  [[nodiscard]] std::span<const std::uint16_t> places() const noexcept { return places_; }

  [[nodiscard]] std::string_view key_of(std::size_t index) const noexcept {
    return members_[index].key;
  }

  /// The keys, or the first of many, for messages.
  [[nodiscard]] std::string name() const;

 private:
  void arrange(std::span<const std::size_t> order);

  std::vector<LockMember> members_;
  std::vector<std::uint16_t> places_{};
};

}  // namespace latchkey::inline v1::detail
