// The reports of one LockedCall to its CallObserver.
// SPDX-License-Identifier: BSL-1.0
#include "locked/observed_call.hpp"

#include <new>
#include <utility>

namespace latchkey::inline v1::detail {

void ObservedCall::begin(LockedCall& call, const Locks* locks) noexcept {
  std::unique_ptr<CallObservation> observation = ObservedRun::begin(locks);
  if (observation == nullptr) return;
  call.observed_ = new (std::nothrow) ObservedCall(std::move(observation));
}

void ObservedCall::release(LockedCall& call) noexcept {
  delete std::exchange(call.observed_, nullptr);
}

void ObservedCall::end(LockedCall& call, bool runs_body) noexcept {
  if (runs_body) {
    call.observed_->body_threw(call.hold());
    call.hold_.reset();
  }
  release(call);
}

void ObservedCall::acquiring(const LockedCall& call, Attempt& attempt) noexcept {
  acquiring(*call.locks_, call.key_, attempt);
}

void ObservedCall::not_acquired(Entry entry, const Attempt& attempt) noexcept {
  const bool unavailable = entry == Entry::unavailable;
  not_acquired(unavailable ? Event::Kind::unavailable : kind_of_busy(attempt), nullptr);
}

}  // namespace latchkey::inline v1::detail
