// Acquires whose holds have a fencing token.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/attempt.hpp>

namespace latchkey::inline v1::detail {

/// Calls `acquire` with the attempt as `space` carries it out: a REENTRANT that is fenced is a
/// FENCED lock. Throws std::invalid_argument unless the backend gives tokens to the type.
template <class Space, class Acquire>
auto with_token(const Space& space, const Attempt& attempt, Acquire&& acquire) {
  if (!attempt.fenced) [[likely]]
    return acquire(attempt);
  Attempt fenced = attempt;
  fenced.type = space.type_with_token(attempt.type);
  return acquire(fenced);
}

}  // namespace latchkey::inline v1::detail
