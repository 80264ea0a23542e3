// The type-independent part of the results of calls whose body did not run.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/locked/outcomes.hpp>

#include <stdexcept>
#include <string>

#include <latchkey/detail/locked/condition.hpp>
#include <latchkey/error.hpp>
#include <latchkey/lock_options.hpp>

#include "locks/permit_count.hpp"

namespace latchkey::inline v1::detail {
namespace {

[[noreturn]] void refuse_token_of(LockType type) {
  throw std::invalid_argument("a " + std::string(to_string(type)) +
                              " has no fencing token, because several owners hold it at a time: "
                              "say .fenced() where the WRITE is taken");
}

}  // namespace

std::exception_ptr error_of(Entry why) {
  return std::make_exception_ptr(
      Error(why == Entry::timeout || why == Entry::skipped_timeout
                ? "the lock was busy for the whole wait: the body did not run"
                : "nobody could tell whether the lock is free: the body did not "
                  "run"));
}

void set_permits(LockTerms& terms, int total, int taken) {
  if (terms.says_type && terms.type != LockType::PERMIT) {
    const std::string call = "permits(" + std::to_string(total) + ")";
    throw std::invalid_argument(call + " makes the key a semaphore, and " +
                                std::string(to_string(terms.type)) +
                                " is the type of a lock: say PERMIT, or no type");
  }
  if (terms.fenced) refuse_token_of(LockType::PERMIT);
  terms.permits = checked_permits(taken, total);
  terms.type = LockType::PERMIT;
  terms.says_type = true;
}

void set_fenced(LockTerms& terms) {
  if (is_shared(terms.type)) refuse_token_of(terms.type);
  terms.fenced = true;
}

void check_hold_for(std::chrono::milliseconds time, Lease lease) {
  if (!lease.is_watchdog() && time > lease.length(std::chrono::milliseconds(0))) {
    throw std::invalid_argument(
        "hold_for (" + std::to_string(time.count()) +
        " ms) is longer than the lease, which ends it earlier: say a longer "
        "lease");
  }
  const std::chrono::milliseconds most = lease.held_at_most();
  if (most.count() != 0 && time > most) {
    throw std::invalid_argument(
        "hold_for (" + std::to_string(time.count()) + " ms) is longer than held_at_most (" +
        std::to_string(most.count()) + " ms), which ends it earlier: say a shorter time");
  }
}

void set_held_at_most(LockTerms& terms, std::chrono::milliseconds time) {
  const std::chrono::milliseconds lease = terms.lease.length(std::chrono::milliseconds(0));
  if (terms.says_lease && time < lease) {
    throw std::invalid_argument("held_at_most (" + std::to_string(time.count()) +
                                " ms) is shorter than the lease (" + std::to_string(lease.count()) +
                                " ms): say a shorter lease, or latchkey::watchdog");
  }
  const Lease limited = Lease(watchdog).held_at_most(time);  // throws if it is out of range
  terms.lease = limit_lease(terms.lease, limited.held_at_most());
  check_hold_for(terms.hold_for, terms.lease);
}

bool truth_of(std::string_view text, std::string_view expression) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw KeyError(".when<\"" + std::string(expression) + "\">() is '" + std::string(text) +
                 "': it must be true or false");
}

}  // namespace latchkey::inline v1::detail
