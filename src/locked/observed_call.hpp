// The reports of one LockedCall to its CallObserver.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>

#include <latchkey/detail/locked/locked_call.hpp>

#include "locks/observed_run.hpp"

namespace latchkey::inline v1::detail {

/// Belongs to a LockedCall, also to that of a coroutine. Made only if the call is observed.
struct ObservedCall : ObservedRun {
  using ObservedRun::ObservedRun, ObservedRun::acquiring, ObservedRun::not_acquired;

  /// Makes `call.observed_` if the Locks of the call have an observer; `locks` may be null.
  static void begin(LockedCall& call, const Locks* locks) noexcept;
  /// Runs `enter`, which acquires by `attempt`, and tells what comes of it.
  template <class Enter>
  [[gnu::noinline]] static Entry enter(LockedCall& call, Attempt& attempt, const Enter& enter) {
    begin(call, call.locks_);
    if (call.observed_ == nullptr) return enter();
    ObservedCall& its = *call.observed_;
    its.acquiring(call, attempt);
    try {
      const Entry entry = enter();
      entry == Entry::held ? its.acquired(*call.hold_) : its.not_acquired(entry, attempt);
      its.enter_thread();
      return entry;
    } catch (...) {
      its.not_acquired(std::current_exception(), attempt);
      release(call);
      throw;
    }
  }
  /// The call ends by its destructor: after an exception of its body, or without a body.
  static void end(LockedCall& call, bool runs_body) noexcept;
  static void release(LockedCall& call) noexcept;

  void acquiring(const LockedCall& call, Attempt& attempt) noexcept;
  void not_acquired(Entry entry, const Attempt& attempt) noexcept;
};

}  // namespace latchkey::inline v1::detail
