// The reports of one decorated call to its CallObserver.
// SPDX-License-Identifier: BSL-1.0
#include "locked/observed_call.hpp"

#include <new>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>

namespace latchkey::inline v1::detail {
namespace {

using Kind = Event::Kind;

Kind kind_of_timeout(const Attempt& attempt) noexcept {
  const bool one_attempt = !attempt.wait.is_forever() && attempt.wait.length().count() == 0;
  return one_attempt ? Kind::busy : Kind::timeout;
}

Kind kind_of(const std::exception_ptr& error, const Attempt& attempt) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const LockTimeout&) {
    return kind_of_timeout(attempt);
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

ObservedCall::~ObservedCall() {
  scope.reset();
  if (outcome) observation->ended(*outcome, held);
}

void ObservedCall::begin(LockedCall& call, const Locks* locks) noexcept {
  CallObserver* const observer = locks != nullptr ? locks->options().call_observer : nullptr;
  if (observer == nullptr) return;
  std::unique_ptr<CallObservation> observation = observer->begin();
  if (observation == nullptr) return;
  call.observed_ = new (std::nothrow) ObservedCall(std::move(observation));
}

void ObservedCall::release(LockedCall& call) noexcept {
  delete std::exchange(call.observed_, nullptr);
}

void ObservedCall::end(LockedCall& call, bool runs_body) noexcept {
  if (runs_body) {
    call.observed_->observation->body_threw();
    call.observed_->body_ended(call.hold());
    call.hold_.reset();
  }
  release(call);
}

void ObservedCall::acquiring(const LockedCall& call, Attempt& attempt) noexcept {
  attempt.report = &report;
  observation->acquiring(*call.locks_, call.key_, attempt);
}

void ObservedCall::not_acquired(Entry entry, const Attempt& attempt) noexcept {
  const Kind kind = entry == Entry::unavailable ? Kind::unavailable : kind_of_timeout(attempt);
  observation->not_acquired(kind, report, nullptr);
}

void ObservedCall::not_acquired(const std::exception_ptr& error, const Attempt& attempt) noexcept {
  observation->not_acquired(kind_of(error, attempt), report, error);
}

void ObservedCall::body_ended(const Hold* hold) noexcept {
  scope.reset();
  if (hold != nullptr) outcome = hold->lost() ? Kind::lost : Kind::released;
}

void ObservedCall::lost(const LockLost& error) noexcept {
  outcome = Kind::lost;
  held = error.held();
}

}  // namespace latchkey::inline v1::detail
