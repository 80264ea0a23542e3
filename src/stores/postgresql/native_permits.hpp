// The calls of latchkey's functions for semaphores.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include "stores/postgresql/layout.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// The owner of the row that makes a key a semaphore.
inline constexpr std::string_view semaphore_owner = "*";

/// Whether the call of the request differs from that of a lock. Most requests about a hold of
/// permits are those about any hold.
[[nodiscard]] bool calls_permits(const Request& request) noexcept;

/// The call of a request for which `calls_permits` holds.
[[nodiscard]] Call permits_call(const Request& request);

/// The outcome of what `permits_call` has called.
[[nodiscard]] Outcome permits_outcome(const Request& request, std::string_view reply);

/// Sets the outcome of an inspection that has found something else than the request asks for.
void check_kind(const Request& request, Outcome& outcome);

}  // namespace latchkey::inline v1::detail::postgresql
