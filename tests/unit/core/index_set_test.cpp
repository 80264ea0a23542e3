// A set of small numbers.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "core/collections/index_set.hpp"

namespace latchkey {
namespace {

TEST(IndexSet, VisitsEachNumberOnceInAscendingOrder) {
  for (const std::size_t count : {0U, 1U, 5U, 16U, 17U, 200U}) {
    detail::IndexSet<256> set;
    std::vector<std::size_t> expected, visited;
    for (std::size_t index = 0; index < count; ++index) {
      set.insert(255 - index);
      set.insert(255 - index / 2);
      expected.insert(expected.begin(), 255 - index);
    }
    set.for_each([&](std::size_t index) { visited.push_back(index); });
    EXPECT_EQ(visited, expected) << count;
  }
}

}  // namespace
}  // namespace latchkey
