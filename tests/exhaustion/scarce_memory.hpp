// Makes allocations fail.
#pragma once

#include <cstddef>

namespace latchkey::tests {

/// The `nth` operator new of the calling thread from now on, counted from 1, throws std::bad_alloc,
/// and so do those after it: `count` in all.
void fail_allocation(std::size_t nth, std::size_t count = 1) noexcept;

/// Cancels that. True if one has thrown.
bool allocation_failed() noexcept;

}  // namespace latchkey::tests
