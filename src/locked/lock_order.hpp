// Finds locks that are acquired in both orders before two threads deadlock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace latchkey::inline v1::detail {

class LockedCall;
struct LockTerms;

/// Called before `call` acquires within `innermost` and its enclosing calls. If its Locks have
/// Options::check_order, records the order in which lock classes are acquired, and warns the
/// listener (std::clog if there is no listener) the first time that two are acquired in both
/// orders. Thread-safe. The record is kept for the whole process.
void check_lock_order(const LockedCall& call, const LockTerms& terms, const LockedCall& innermost);

}  // namespace latchkey::inline v1::detail
