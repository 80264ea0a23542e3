// The reports of one decorated call to its CallObserver.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/call_observer.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1::detail {

/// An observed call from its acquire on. Its destructor says how the hold ended: by then it was
/// given back.
struct ObservedRun {
  explicit ObservedRun(std::unique_ptr<CallObservation> its) noexcept
      : observation(std::move(its)) {}
  ObservedRun(const ObservedRun&) = delete;
  ObservedRun& operator=(const ObservedRun&) = delete;
  ~ObservedRun();

  /// The observation of a call that begins. Null: nobody observes it. `locks` may be null.
  [[nodiscard]] static std::unique_ptr<CallObservation> begin(const Locks* locks) noexcept;

  // --- in this order ---
  void acquiring(const Locks& locks, std::string_view key, Attempt& attempt) noexcept;
  void acquired(const Hold& hold) noexcept { observation->acquired(hold, report); }
  void not_acquired(Event::Kind why, const std::exception_ptr& error) noexcept {
    observation->not_acquired(why, report, error);
  }
  void not_acquired(const std::exception_ptr& error, const Attempt& attempt) noexcept;
  void enter_thread() noexcept { scope = observation->enter_thread(); }
  void body_threw(const Hold* hold) noexcept;
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

/// How `attempt` ends if it gives up because the lock is busy.
[[nodiscard]] Event::Kind kind_of_busy(const Attempt& attempt) noexcept;

}  // namespace latchkey::inline v1::detail
