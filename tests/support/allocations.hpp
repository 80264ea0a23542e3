// How often this thread took memory from the heap.
#pragma once

#include <cstddef>

namespace latchkey::tests {

/// False under a sanitizer, which has a heap of its own: the count then stays 0.
[[nodiscard]] bool counts_allocations() noexcept;

/// Calls of malloc, calloc, realloc and what stands on them (operator new), by this thread so far.
[[nodiscard]] std::size_t allocations() noexcept;

}  // namespace latchkey::tests
