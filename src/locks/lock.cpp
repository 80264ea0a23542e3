// The calls of a Lock: one key by its space, several keys together.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/lock.hpp>

#include <utility>

#include <latchkey/error.hpp>

#include "locks/multi/lock_set.hpp"
#include "locks/multi/multi_lock.hpp"
#include "locks/space/live_spaces.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1 {

Lock::Lock(std::shared_ptr<detail::SpaceRef> space, std::string key, LockType type,
           std::optional<Owner> owner)
    : space_(std::move(space)),
      key_(std::move(key)),
      hash_(detail::hash_key(key_)),
      type_(type),
      owner_(owner) {}

Lock::Lock(std::shared_ptr<detail::SpaceRef> space, std::shared_ptr<const detail::LockSet> several)
    : space_(std::move(space)),
      key_(several->name()),
      type_(several->members().front().type),
      several_(std::move(several)) {}

Lock::Lock(const Lock&) = default;
Lock::Lock(Lock&&) noexcept = default;
Lock& Lock::operator=(const Lock&) = default;
Lock& Lock::operator=(Lock&&) noexcept = default;
Lock::~Lock() = default;

std::string_view Lock::key() const noexcept {
  return several_ != nullptr ? std::string_view(key_) : space_->space().without_prefix(key_);
}

void Lock::lock() {
  if (!try_lock_within(forever))
    throw std::logic_error("internal error: a wait without a limit timed out");
}

bool Lock::try_lock() { return try_lock_within(std::chrono::milliseconds(0)); }

bool Lock::try_lock_within(Wait wait) {
  if (several_ != nullptr) return detail::lock_together(*several_, wait);
  detail::LockSpace& space = space_->space();
  const bool by_thread = !owner_.has_value();
  if (by_thread) detail::ThreadLocks::taken(space);
  try {
    const bool locked = space.lock(space.driver().place_of(key_, hash_), type_, owner(), wait);
    if (!locked && by_thread) detail::ThreadLocks::given_back(space);
    return locked;
  } catch (...) {
    if (by_thread) detail::ThreadLocks::given_back(space);
    throw;
  }
}

bool Lock::release() {
  if (several_ != nullptr) return detail::unlock_together(*several_);
  detail::LockSpace& space = space_->space();
  try {
    const bool held = space.unlock(space.driver().place_of(key_, hash_), type_, owner());
    if (!owner_) detail::ThreadLocks::given_back(space);
    return held;
  } catch (const NotOwner&) {
    throw;  // nothing was unlocked
  } catch (...) {
    if (!owner_) detail::ThreadLocks::given_back(space);
    throw;
  }
}

void Lock::unlock() noexcept {
  try {
    static_cast<void>(release());  // the coordinator reports a loss
  } catch (const LockError& error) {
    space_->space().reporter().unlock_failed(error);
  } catch (const std::exception& error) {
    space_->space().reporter().error(Event::Kind::unlock_error, key(), type_, error.what());
  }
}

Hold Lock::acquire(Wait wait, Lease lease) {
  Attempt attempt;
  attempt.type = type_;
  attempt.wait = wait;
  attempt.lease = lease;
  if (several_ != nullptr) return detail::acquire_together(*several_, attempt);
  detail::LockSpace& space = space_->space();
  return space.acquire(space.driver().place_of(key_, hash_), owner(), attempt);
}

std::optional<Hold> Lock::try_acquire(Wait wait, Lease lease) {
  Attempt attempt;
  attempt.type = type_;
  attempt.wait = wait;
  attempt.lease = lease;
  if (several_ != nullptr) return detail::try_acquire_together(*several_, attempt);
  detail::LockSpace& space = space_->space();
  return space.try_acquire(space.driver().place_of(key_, hash_), owner(), attempt);
}

}  // namespace latchkey::inline v1
