// Whether any Locks have a CallObserver.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

namespace latchkey::inline v1::detail {

/// Set when the first Locks with Options::call_observer are made, and never reset: what a decorated
/// call reads while nobody observes any.
inline constinit std::atomic<bool> calls_may_be_observed{false};

}  // namespace latchkey::inline v1::detail
