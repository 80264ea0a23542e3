// Locks that are ever taken in both orders, found before two threads wait for each other.
#pragma once

namespace latchkey::detail {

class LockedCall;
struct LockTerms;

/// Before `call` acquires within `innermost` and the calls around it: where its Locks have
/// Options::check_order, remembers in which order lock classes are taken, and tells the listener
/// (std::clog where there is none) the first time that two are taken in both. Thread-safe; what is
/// remembered is the process's.
void check_lock_order(const LockedCall& call, const LockTerms& terms, const LockedCall& innermost);

}  // namespace latchkey::detail
