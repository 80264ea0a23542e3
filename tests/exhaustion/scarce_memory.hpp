// A heap that has nothing left, once.
#pragma once

#include <cstddef>

namespace latchkey::tests {

/// From now on the `nth` operator new of the calling thread, counted from 1, throws std::bad_alloc,
/// once.
void fail_allocation(std::size_t nth) noexcept;

/// No more. True: it has thrown.
bool allocation_failed() noexcept;

}  // namespace latchkey::tests
