// Properties of verbs that backends need.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail {

[[nodiscard]] inline bool is_release(Verb verb) noexcept {
  return verb == Verb::release || verb == Verb::leave;
}

}  // namespace latchkey::inline v1::detail
