// Counts heap allocations per thread.
#pragma once

#include <cstddef>

namespace latchkey::tests {

/// False under a sanitizer, which has its own heap: the count stays 0.
[[nodiscard]] bool counts_allocations() noexcept;

/// How often this thread called malloc, calloc or realloc, directly or by operator new.
[[nodiscard]] std::size_t allocations() noexcept;

}  // namespace latchkey::tests
