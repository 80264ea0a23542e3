// The members of a composite in the order in which everybody takes them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

namespace latchkey::detail {

class SpaceRef;
class LockSpace;

/// One lock of a composite.
struct LockMember {
  std::shared_ptr<SpaceRef> space;
  std::string key;  ///< with its prefix
  LockType type = LockType::REENTRANT;
  std::optional<Owner> owner{};  ///< empty: the calling thread
};

/// Several locks, sorted by the bytes of their keys, then by backend, each once: two sets that name
/// the same locks are taken in the same order by whoever takes them, in every process that spells
/// the backends' URIs alike. Immutable.
class LockSet {
 public:
  static constexpr std::size_t most = 1'000;

  /// Throws KeyError: there is none, there are more than 1 000, or one key is named with two types
  /// or for two owners.
  explicit LockSet(std::vector<LockMember> members);

  [[nodiscard]] std::span<const LockMember> members() const noexcept { return members_; }

  /// For messages: the keys, or the first of many.
  [[nodiscard]] std::string name() const;

 private:
  std::vector<LockMember> members_;
};

}  // namespace latchkey::detail
