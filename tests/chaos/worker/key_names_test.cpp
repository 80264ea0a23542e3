// The names of the keys that workers lock.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/worker/key_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace latchkey::chaos {
namespace {

TEST(KeyNames, AreAllDifferent) {
  const std::set<std::string_view> names(key_names.begin(), key_names.end());
  EXPECT_EQ(names.size(), key_names.size());
}

// Otherwise no worker locks two keys that a store could take for one.
TEST(KeyNames, EachInBracesIsThatOfAnotherKey) {
  std::size_t in_braces = 0;
  for (const std::string_view name : key_names) {
    if (!name.starts_with('{')) continue;
    ++in_braces;
    EXPECT_NE(std::ranges::find(key_names, name.substr(1, name.size() - 2)), key_names.end());
  }
  EXPECT_EQ(in_braces, 3U);
}

}  // namespace
}  // namespace latchkey::chaos
