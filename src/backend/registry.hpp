// Finds the backend for a URI scheme.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/registry.hpp>

namespace latchkey::inline v1::detail {

/// latchkey's own schemes, which others cannot register. The table of Locks::connect has those that
/// this version serves.
inline constexpr std::array<std::string_view, 9> own_schemes{
    "memory",     "quorum", "redis",          "redis+cluster",  "redis+sentinel",
    "redis+unix", "rediss", "rediss+cluster", "rediss+sentinel"};

/// The factory registered for `scheme`; null if there is none. Thread-safe.
[[nodiscard]] BackendFactory find_backend_factory(std::string_view scheme) noexcept;

/// The schemes that were registered. Thread-safe.
[[nodiscard]] std::vector<std::string> registered_schemes();

}  // namespace latchkey::inline v1::detail
