// That the allocations of this program can be made to fail at all. When ThreadSanitizer's operator
// new took the place of the tests' one, none failed, and most tests passed.
// SPDX-License-Identifier: BSL-1.0
#include "exhaustion/scarce_memory.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <vector>

namespace latchkey::tests {
namespace {

TEST(ScarceMemory, TheSecondAllocationFails) {
  std::vector<int> first, second;
  fail_allocation(2);
  first.reserve(1);
  EXPECT_THROW(second.reserve(1), std::bad_alloc);
  EXPECT_TRUE(allocation_failed());
}

TEST(ScarceMemory, AnAllocationInsideTheStandardLibraryFails) {
  std::string text;
  fail_allocation(1);
  EXPECT_THROW(text.reserve(1000), std::bad_alloc);
  EXPECT_TRUE(allocation_failed());
}

}  // namespace
}  // namespace latchkey::tests
