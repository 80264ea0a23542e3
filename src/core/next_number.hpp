// Numbers that identify objects of a process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

namespace latchkey::inline v1::detail {

/// A number that is never reused in this process, unlike an address. The first one is 1.
[[nodiscard]] inline std::uint64_t next_number() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace latchkey::inline v1::detail
