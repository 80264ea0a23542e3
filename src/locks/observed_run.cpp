// The reports of one decorated call to its CallObserver.
// SPDX-License-Identifier: BSL-1.0
#include "locks/observed_run.hpp"

#include <utility>

#include <latchkey/options.hpp>

#include "locks/event_kinds.hpp"

namespace latchkey::inline v1::detail {

using Kind = Event::Kind;

namespace {

Kind kind_of(const std::exception_ptr& error, const Attempt& attempt) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const LockTimeout&) {
    return kind_of_busy(attempt);
  } catch (const BackendUnavailable&) {
    return Kind::unavailable;
  } catch (const BackendRefused&) {
    return Kind::refused;
  } catch (const Cancelled&) {
    return Kind::cancelled;
  } catch (const Closed&) {
    return Kind::closed;
  } catch (const WouldDeadlock&) {
    return Kind::would_deadlock;
  } catch (...) {
    return Kind::attempt;
  }
}

}  // namespace

Kind kind_of_busy(const Attempt& attempt) noexcept {
  const bool one_attempt = !attempt.wait.is_forever() && attempt.wait.length().count() == 0;
  return kind_of_busy(attempt.origin.key_template, one_attempt);
}

ObservedRun::~ObservedRun() {
  scope.reset();
  if (outcome) observation->ended(*outcome, held);
}

std::unique_ptr<CallObservation> ObservedRun::begin(const Locks* locks) noexcept {
  CallObserver* const observer = locks != nullptr ? locks->options().call_observer : nullptr;
  return observer != nullptr ? observer->begin() : nullptr;
}

void ObservedRun::acquiring(const Locks& locks, std::string_view key, Attempt& attempt) noexcept {
  attempt.report = &report;
  observation->acquiring(locks, key, attempt);
}

void ObservedRun::not_acquired(const std::exception_ptr& error, const Attempt& attempt) noexcept {
  not_acquired(kind_of(error, attempt), error);
}

void ObservedRun::body_threw(const Hold* hold) noexcept {
  observation->body_threw();
  body_ended(hold);
}

void ObservedRun::body_ended(const Hold* hold) noexcept {
  scope.reset();
  if (hold != nullptr) outcome = hold->lost() ? Kind::lost : Kind::released;
}

void ObservedRun::lost(const LockLost& error) noexcept {
  outcome = Kind::lost;
  held = error.held();
}

}  // namespace latchkey::inline v1::detail
