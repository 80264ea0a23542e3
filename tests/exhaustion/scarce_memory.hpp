// Makes one allocation fail.
#pragma once

#include <cstddef>

namespace latchkey::tests {

/// The `nth` operator new of the calling thread from now on, counted from 1, throws std::bad_alloc.
void fail_allocation(std::size_t nth) noexcept;

/// Cancels that. True if it has thrown.
bool allocation_failed() noexcept;

}  // namespace latchkey::tests
