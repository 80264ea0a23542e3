// Looking up who serves a URI scheme.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/registry.hpp>

namespace latchkey::detail {

/// Schemes that are latchkey's own, so that nobody else may register them. Those that this version
/// serves are in the table of Locks::connect.
inline constexpr std::array<std::string_view, 9> own_schemes{
    "memory",     "quorum", "redis",          "redis+cluster",  "redis+sentinel",
    "redis+unix", "rediss", "rediss+cluster", "rediss+sentinel"};

/// The factory registered for `scheme`; null where there is none. Thread-safe.
[[nodiscard]] BackendFactory find_backend_factory(std::string_view scheme) noexcept;

/// The schemes that were registered. Thread-safe.
[[nodiscard]] std::vector<std::string> registered_schemes();

}  // namespace latchkey::detail
