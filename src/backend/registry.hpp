// Looking up who serves a URI scheme.
#pragma once

#include <string_view>

#include <latchkey/registry.hpp>

namespace latchkey::detail {

/// The factory registered for `scheme`; null where there is none. Thread-safe.
[[nodiscard]] BackendFactory find_backend_factory(std::string_view scheme) noexcept;

}  // namespace latchkey::detail
