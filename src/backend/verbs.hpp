// Properties of verbs that backends need.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail {

[[nodiscard]] inline bool is_release(Verb verb) noexcept {
  return verb == Verb::release || verb == Verb::leave;
}

/// Whether a request fails fast while the server is known to be down, because it asks for something
/// that does not exist yet. A request that keeps or releases a hold, or that subscribes, waits for
/// the next connection as long as a command may take.
[[nodiscard]] inline bool fails_fast(Verb verb) noexcept {
  switch (verb) {
    case Verb::acquire:
    case Verb::acquire_all:
    case Verb::inspect:
    case Verb::list:
    case Verb::force_release:
    case Verb::resize:
    case Verb::revoke:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: return true;
    default: return false;
  }
}

}  // namespace latchkey::inline v1::detail
