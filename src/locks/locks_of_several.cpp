// The functions of Locks for several keys at once.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/locks.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <latchkey/detail/key/rendered_keys.hpp>

#include "core/full_key.hpp"
#include "locks/fenced_attempt.hpp"
#include "locks/multi/lock_set.hpp"
#include "locks/multi/multi_lock.hpp"
#include "locks/permit_count.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1 {

Lock Locks::all_of(std::vector<Lock> locks) const {
  std::vector<detail::LockMember> members;
  for (Lock& lock : locks) {
    if (lock.several_ != nullptr) {
      const auto its = lock.several_->members();
      members.insert(members.end(), its.begin(), its.end());
    } else {
      members.push_back({lock.space_, std::move(lock.key_), lock.type_, lock.owner_});
    }
  }
  for (detail::LockMember& member : members) {
    if (!member.owner) member.owner = owner_;
  }
  auto set = std::make_shared<const detail::LockSet>(std::move(members));
  if (set->members().size() > 1) return Lock(space_, std::move(set));
  const detail::LockMember& one = set->members().front();
  return Lock(one.space, one.key, one.type, one.owner);
}

detail::LockSet Locks::several(std::span<const std::string_view> keys, LockType type) const {
  if (type == LockType::PERMIT) detail::refuse_permit_as_lock();
  const detail::LockSpace& space = space_->space();
  space.require_offered(type);
  std::vector<detail::LockMember> members;
  members.reserve(keys.size());
  for (const std::string_view key : keys) {
    members.push_back(
        {space_, std::string(detail::FullKey(space.options().prefix, key).view()), type, owner_});
  }
  return detail::LockSet(std::move(members));
}

// A wrong key is left to the ordinary acquire, which says what is wrong.
std::optional<Hold> Locks::acquire_all_at_once(std::span<const std::string_view> keys,
                                               const Attempt& attempt) const {
  detail::LockSpace& space = space_->space();
  const std::string& prefix = space.options().prefix;
  const auto is_valid = [&](std::string_view key) {
    return !key.empty() && prefix.size() + key.size() <= detail::longest_key;
  };
  if (!space.capabilities().offers(attempt.type) || !std::ranges::all_of(keys, is_valid)) {
    return std::nullopt;
  }
  const Owner owner = owner_ ? *owner_ : Owner::this_thread();
  if (prefix.empty()) return space.acquire_all_at_once(keys, owner, attempt);
  detail::RenderedKeys full;
  for (const std::string_view key : keys) {
    KeyBuffer& text = full.add();
    text.append(prefix.data(), prefix.size());
    text.append(key.data(), key.size());
  }
  return space.acquire_all_at_once(full.view(), owner, attempt);
}

Hold Locks::acquire_all(std::span<const std::string_view> keys, const Attempt& attempt) const {
  return detail::with_token(space_->space(), attempt, [&](const Attempt& its) {
    if (std::optional<Hold> hold = acquire_all_at_once(keys, its)) return *std::move(hold);
    return detail::acquire_together(several(keys, its.type), its);
  });
}

std::optional<Hold> Locks::try_acquire_all(std::span<const std::string_view> keys,
                                           const Attempt& attempt) const {
  return detail::with_token(space_->space(), attempt,
                            [&](const Attempt& its) -> std::optional<Hold> {
                              auto hold = acquire_all_at_once(keys, its);
                              if (hold) return hold;
                              return detail::try_acquire_together(several(keys, its.type), its);
                            });
}

Hold Locks::acquire_all(std::span<const std::string> keys, const Attempt& attempt) const {
  return acquire_all(std::vector<std::string_view>(keys.begin(), keys.end()), attempt);
}

std::optional<Hold> Locks::try_acquire_all(std::span<const std::string> keys,
                                           const Attempt& attempt) const {
  return try_acquire_all(std::vector<std::string_view>(keys.begin(), keys.end()), attempt);
}

}  // namespace latchkey::inline v1
