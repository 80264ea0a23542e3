// The hash of a hold id.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <latchkey/hold_id.hpp>

namespace latchkey::inline v1::detail {

struct HashOfId {
  std::size_t operator()(const HoldId& id) const noexcept {
    return static_cast<std::size_t>(id.number * 0x9E3779B97F4A7C15U ^ id.space[0] ^ id.space[1]);
  }
};

}  // namespace latchkey::inline v1::detail
