// An acquire of the C interface, checked.
// SPDX-License-Identifier: BSL-1.0
#include "c/acquire_request.hpp"

#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>

#include "locks/async/access.hpp"
#include "locks/permit_count.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail::c {
namespace {

using std::chrono::milliseconds;

static_assert(milliseconds(LATCHKEY_CACHE_ADAPTIVE) == adaptive_cache);

LockType type_of(latchkey_type type) {
  switch (type) {
    case LATCHKEY_TYPE_UNSET:
    case LATCHKEY_REENTRANT: return LockType::REENTRANT;
    case LATCHKEY_FAIR: return LockType::FAIR;
    case LATCHKEY_READ: return LockType::READ;
    case LATCHKEY_WRITE: return LockType::WRITE;
    case LATCHKEY_FENCED: return LockType::FENCED;
    case LATCHKEY_PERMIT: return LockType::PERMIT;
  }
  throw std::invalid_argument("unknown lock type " + std::to_string(type) +
                              "; expected a latchkey_type");
}

Wait wait_of(std::int64_t wait) {
  if (!is_set(wait)) return default_wait;
  return wait == LATCHKEY_FOREVER ? Wait(forever) : Wait(milliseconds(wait));
}

// A lease that is longer than held_at_most allows ends with that, as between code and a policy
// file.
Lease lease_of(const latchkey_request& request) {
  const bool renewed = !is_set(request.lease_ms) || request.lease_ms == LATCHKEY_WATCHDOG;
  Lease lease = renewed ? Lease(watchdog) : Lease(milliseconds(request.lease_ms));
  if (is_set(request.held_at_most_ms)) {
    const milliseconds most(request.held_at_most_ms);
    lease = limit_lease(lease, Lease(watchdog).held_at_most(most).held_at_most());
  }
  if (is_set(request.lock_delay_ms)) lease = lease.lock_delay(milliseconds(request.lock_delay_ms));
  if (is_set(request.cache_ms)) lease = lease.cache(milliseconds(request.cache_ms));
  return lease;
}

milliseconds time_or(std::int64_t time, milliseconds otherwise) {
  return is_set(time) ? milliseconds(time) : otherwise;
}

/// Owner has no constructor for a number, which would let programs make up owners.
Owner owner_of(std::uint64_t number) noexcept { return std::bit_cast<Owner>(number); }

const latchkey_request& checked(const latchkey_request* request) {
  if (request == nullptr) throw std::invalid_argument("the request is NULL");
  require_size(request->size, sizeof *request, "latchkey_request");
  if (request->key_count == 0 || request->keys == nullptr) {
    throw KeyError("the request names no key; expected at least one");
  }
  return *request;
}

}  // namespace

void require_size(std::size_t size, std::size_t expected, const char* type) {
  if (size >= expected) return;
  throw std::invalid_argument(std::string("the size of the ") + type + " is " +
                              std::to_string(size) + "; expected " + std::to_string(expected) +
                              ": begin with its _INIT macro");
}

Options options_of(const latchkey_options* options) {
  Options made;
  if (options == nullptr) return made;
  require_size(options->size, sizeof *options, "latchkey_options");
  if (options->prefix != nullptr) made.prefix = options->prefix;
  made.watchdog = time_or(options->watchdog_ms, made.watchdog);
  made.command_timeout = time_or(options->command_timeout_ms, made.command_timeout);
  made.unavailable_after = time_or(options->unavailable_after_ms, made.unavailable_after);
  if (options->allow_down != 0) made.startup = Startup::allow_down;
  return made;
}

AcquireRequest::AcquireRequest(const latchkey_request* request)
    : owner_(checked(request).owner),
      total_(request->total),
      permits_(is_set(request->permits) ? request->permits : 1),
      hold_for_(time_or(request->hold_for_ms, milliseconds(0))) {
  for (std::size_t index = 0; index < request->key_count; ++index) {
    if (request->keys[index] == nullptr) throw KeyError("a key of the request is NULL");
    keys_.emplace_back(request->keys[index]);
  }
  attempt_.type = is_set(total_) ? LockType::PERMIT : type_of(request->type);
  attempt_.wait = wait_of(request->wait_ms);
  attempt_.lease = lease_of(*request);
  attempt_.fenced = request->fenced != 0;
  if (!is_semaphore()) return;
  if (!is_set(total_)) {
    throw std::invalid_argument(
        "LATCHKEY_PERMIT needs a total: how many permits the semaphore has");
  }
  if (keys_.size() > 1) throw std::invalid_argument("a semaphore has one key; expected one");
  attempt_ = permit_attempt(permits_, total_, attempt_.wait, attempt_.lease);
}

Locks AcquireRequest::of_owner(const Locks& locks) const {
  return owner_ == 0 ? locks : locks.with_owner(owner_of(owner_));
}

Hold AcquireRequest::acquire(const Locks& locks) const {
  const auto acquired = [&]() -> Hold {
    if (is_semaphore()) {
      return locks.semaphore(std::string(keys_.front()), static_cast<int>(total_))
          .acquire(static_cast<int>(permits_), attempt_.wait, attempt_.lease);
    }
    if (keys_.size() > 1) return of_owner(locks).acquire_all(keys_, attempt_);
    return of_owner(locks).acquire(keys_.front(), attempt_);
  };
  Hold hold = acquired();
  if (hold_for_ > milliseconds(0)) hold.hold_for(hold_for_);
  return hold;
}

Lock AcquireRequest::lock(const Locks& locks) const {
  const Locks its = of_owner(locks);
  if (is_semaphore()) {
    return LockAccess::lock(its.semaphore(std::string(keys_.front()), static_cast<int>(total_)));
  }
  const LockType type = attempt(locks).type;
  std::vector<Lock> members;
  members.reserve(keys_.size());
  for (const std::string_view key : keys_) members.push_back(its.lock(std::string(key), type));
  if (members.size() == 1) return std::move(members.front());
  return its.all_of(std::move(members));
}

Attempt AcquireRequest::attempt(const Locks& locks) const {
  Attempt attempt = attempt_;
  if (attempt.fenced) {
    attempt.type = LockAccess::space(locks)->space().type_with_token(attempt.type);
  }
  return attempt;
}

}  // namespace latchkey::inline v1::detail::c
