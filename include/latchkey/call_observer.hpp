// CallObserver: watches decorated calls on the threads that make them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/listener.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Hold;
class Locks;

/// How an acquire went, as far as that is known at its end.
struct AcquireReport {
  /// The time since the lock was found busy. Empty: the acquire did not wait.
  std::optional<std::chrono::nanoseconds> contended{};
  /// The holder when the wait began, in the words of Event::holder; empty: unknown,
  /// as always for several keys.
  std::string holder{};
  /// The requests for the lock that were made of the backend. 0: a hold of this process was shared
  /// or handed over. For several keys it is 1.
  std::uint32_t attempts = 1;
};

/// Lives while one thread runs a part of an observed call. Made and destroyed on that thread.
class CallScope {
 public:
  CallScope() = default;
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  virtual ~CallScope();
};

/// One decorated call that is observed. It is destroyed when the call has ended. Its functions are
/// called one at a time; those of a coroutine on the threads that run the coroutine.
class CallObservation {
 public:
  CallObservation() = default;
  CallObservation(const CallObservation&) = delete;
  CallObservation& operator=(const CallObservation&) = delete;
  virtual ~CallObservation();

  /// The call asks for its lock. Not called if it runs without asking: `.when` returned false, or a
  /// policy lets it run unlocked. `key` is without the prefix; for several keys it is empty. The
  /// site is in `attempt.origin`.
  virtual void acquiring(const Locks& locks, std::string_view key,
                         const Attempt& attempt) noexcept = 0;
  /// The call has its lock, and its body is about to run.
  virtual void acquired(const Hold& hold, const AcquireReport& report) noexcept = 0;
  /// The call does not get its lock. `outcome` is timeout, busy, unavailable, refused, cancelled,
  /// closed, would_deadlock, taken (another run has the instant of a LOCKED_ONCE_PER, or had it),
  /// or `attempt` if none of them fits. `error`: the exception, if there is one; a strategy of the
  /// call may still keep it from its caller, and run the body.
  virtual void not_acquired(Event::Kind outcome, const AcquireReport& report,
                            const std::exception_ptr& error) noexcept = 0;
  /// The body has ended, and the lock was given back. `outcome` is released, lost or
  /// release_unconfirmed; `held`: how long the lock was held before it was lost, if that is known.
  virtual void ended(Event::Kind outcome,
                     std::optional<std::chrono::milliseconds> held) noexcept = 0;
  /// The body ended by an exception, or its coroutine was destroyed. Called before `ended`.
  virtual void body_threw() noexcept = 0;
  /// The calling thread runs the body, or a part of a coroutine, until the scope is destroyed. May
  /// return null.
  [[nodiscard]] virtual std::unique_ptr<CallScope> enter_thread() noexcept = 0;
};

/// Watches the decorated calls of Locks: Options::call_observer. A Listener hears of events later,
/// on a thread of its own; this is called by each call itself, which waits for it. Derive from it
/// to start spans, or to set what is thread-local while a body runs;
/// OpenTelemetryListener is one.
///
/// LOCKED and LOCKED_BY around bodies and coroutines are observed, LOCKED_ONCE_PER unless it is too
/// late for its instant, and annotations; of a HERE only its acquire is. Calls without a macro are
/// not. Until the first Locks with an observer are made, decorated calls cost nothing for it.
///
/// Its functions must not throw, and are called on many threads at once.
class CallObserver {
 public:
  CallObserver() = default;
  CallObserver(const CallObserver&) = default;
  CallObserver& operator=(const CallObserver&) = default;
  virtual ~CallObserver();

  /// A decorated call begins. Called on the thread that makes it, or that awaits it. Null: the call
  /// is not observed.
  [[nodiscard]] virtual std::unique_ptr<CallObservation> begin() noexcept = 0;
  /// False: no call is observed, as without an observer. Called once, when Locks are made.
  [[nodiscard]] virtual bool wants_calls() const noexcept { return true; }
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
