// Locks that cannot be made for want of memory.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <vector>

#include <latchkey/listener.hpp>
#include <latchkey/locks.hpp>

#include "exhaustion/scarce_memory.hpp"

namespace latchkey::tests {
namespace {

// They stayed in the list of those that exist, in which the destructor of each listener searches:
// the process ended later, in a mutex that was gone.
TEST(LockSpaceWithoutMemory, LocksThatCannotBeMadeAreForgotten) {
  constexpr std::size_t most = 400;
  std::vector<Locks> alive;
  alive.reserve(40);
  while (alive.size() < alive.capacity()) {  // each list of them is full for some of these
    bool failed = true;
    for (std::size_t nth = 1; failed; ++nth) {
      ASSERT_LT(nth, most);
      fail_allocation(nth);
      try {
        alive.push_back(Locks::connect("memory:"));
      } catch (const std::bad_alloc&) {
      }
      failed = allocation_failed();
      const Listener searches;
    }
  }
  EXPECT_TRUE(alive.back().lock("k").try_lock());
  alive.back().lock("k").unlock();
}

}  // namespace
}  // namespace latchkey::tests
