// The functions of Semaphore: validating numbers, and handing the rest to the space.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/semaphore.hpp>

#include <stdexcept>
#include <string>

#include <latchkey/attempt.hpp>
#include <latchkey/lock_info.hpp>

#include "locks/async/access.hpp"
#include "locks/permit_count.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1 {
namespace {

Outcome::Kind administer(const Lock& lock, Verb verb, int total, LockInfo* info = nullptr) {
  Request request;
  request.verb = verb;
  request.type = LockType::PERMIT;
  request.key = detail::LockAccess::full_key(lock);
  request.permits.total = static_cast<std::uint32_t>(total);
  request.info = info;
  return detail::LockAccess::space(lock)->space().administer(request);
}

/// The permits of `semaphore`. If it does not exist, those that it would be made with.
PermitInfo permits_of(const Semaphore& semaphore) {
  const std::int64_t total = semaphore.permits();
  return semaphore.inspect().permits.value_or(PermitInfo{total, total});
}

}  // namespace

namespace detail {

void refuse_permit_as_lock() {
  throw std::invalid_argument(
      "PERMIT is no type of a lock, nor of one lock among several: it is taken from "
      "Locks::semaphore(key, permits), or by LOCKED(key).permits(total)");
}

void require_total(std::int64_t total) {
  if (total >= 1 && total <= most_permits) return;
  throw std::invalid_argument("a semaphore of " + std::to_string(total) +
                              " permits: expected 1 to " + std::to_string(most_permits) +
                              ", as in Locks::semaphore(key, 3) or LOCKED(key).permits(3)");
}

Permits checked_permits(std::int64_t taken, std::int64_t total) {
  require_total(total);
  if (taken < 1 || taken > most_permits_at_once) {
    throw std::invalid_argument("an acquire of " + std::to_string(taken) +
                                " permits: expected 1 to " + std::to_string(most_permits_at_once));
  }
  if (taken > total) {
    throw std::invalid_argument("an acquire of " + std::to_string(taken) +
                                " permits waits for ever: the semaphore has " +
                                std::to_string(total));
  }
  return {static_cast<std::uint32_t>(taken), static_cast<std::uint32_t>(total)};
}

void require_valid(const Permits& permits) {
  static_cast<void>(checked_permits(permits.taken, permits.total));
}

Attempt permit_attempt(std::int64_t taken, std::int64_t total, Wait wait, Lease lease) {
  Attempt attempt;
  attempt.type = LockType::PERMIT;
  attempt.wait = wait;
  attempt.lease = lease;
  attempt.permits = checked_permits(taken, total);
  return attempt;
}

}  // namespace detail

Hold Semaphore::acquire(int permits, Wait wait, Lease lease) const {
  const Attempt attempt = detail::permit_attempt(permits, permits_, wait, lease);
  return detail::LockAccess::space(lock_)->space().acquire(detail::LockAccess::place(lock_),
                                                           Owner::make(), attempt);
}

std::optional<Hold> Semaphore::try_acquire(int permits, Wait wait, Lease lease) const {
  const Attempt attempt = detail::permit_attempt(permits, permits_, wait, lease);
  return detail::LockAccess::space(lock_)->space().try_acquire(detail::LockAccess::place(lock_),
                                                               Owner::make(), attempt);
}

std::int64_t Semaphore::available() const { return permits_of(*this).available; }

std::int64_t Semaphore::total() const { return permits_of(*this).total; }

LockInfo Semaphore::inspect() const {
  LockInfo info;
  info.key = detail::LockAccess::full_key(lock_);
  info.type = LockType::PERMIT;
  static_cast<void>(administer(lock_, Verb::inspect, permits_, &info));
  info.key = key();  // without the prefix
  return info;
}

void Semaphore::set_total(int total) const {
  detail::require_total(total);
  static_cast<void>(administer(lock_, Verb::resize, total));
}

bool Semaphore::destroy() const {
  return administer(lock_, Verb::force_release, permits_) == Outcome::Kind::granted;
}

}  // namespace latchkey::inline v1
