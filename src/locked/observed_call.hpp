// The reports of one decorated call to its CallObserver.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include <latchkey/call_observer.hpp>
#include <latchkey/detail/locked/locked_call.hpp>

namespace latchkey::inline v1::detail {

/// Belongs to a LockedCall, also to that of a coroutine. Made only if the call is observed.
struct ObservedCall {
  explicit ObservedCall(std::unique_ptr<CallObservation> its) noexcept
      : observation(std::move(its)) {}
  ObservedCall(const ObservedCall&) = delete;
  ObservedCall& operator=(const ObservedCall&) = delete;
  ~ObservedCall();

  // --- of a LockedCall, which owns it ---
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

  // --- in this order ---
  void acquiring(const LockedCall& call, Attempt& attempt) noexcept;
  void acquired(const Hold& hold) noexcept { observation->acquired(hold, report); }
  void not_acquired(Entry entry, const Attempt& attempt) noexcept;
  void not_acquired(const std::exception_ptr& error, const Attempt& attempt) noexcept;
  void enter_thread() noexcept { scope = observation->enter_thread(); }
  /// Before the release; `hold` is null for a body that ran without its lock.
  void body_ended(const Hold* hold) noexcept;
  void lost(const LockLost& error) noexcept;
  void unconfirmed() noexcept { outcome = Event::Kind::release_unconfirmed; }

  std::unique_ptr<CallObservation> observation;
  std::unique_ptr<CallScope> scope{};  ///< of the thread that runs the body
  AcquireReport report{};
  std::optional<Event::Kind> outcome{};  ///< of the hold, which has ended; empty: there was none
  std::optional<std::chrono::milliseconds> held{};
};

}  // namespace latchkey::inline v1::detail
