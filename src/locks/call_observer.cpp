// The destructors of what observes calls.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/call_observer.hpp>

namespace latchkey::inline v1 {

CallScope::~CallScope() = default;
CallObservation::~CallObservation() = default;
CallObserver::~CallObserver() = default;

}  // namespace latchkey::inline v1
