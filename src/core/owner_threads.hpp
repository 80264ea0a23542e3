// The system thread of an owner, for debugging.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>

#include <latchkey/owner.hpp>

namespace latchkey::inline v1::detail {

/// The system's thread id (gettid); empty if the owner is not a thread or its thread has ended.
/// Thread-safe.
[[nodiscard]] std::optional<long> thread_of(Owner owner) noexcept;

}  // namespace latchkey::inline v1::detail
