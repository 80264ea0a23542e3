// Sorts and keeps the order of equals.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

namespace latchkey::chaos {

/// As std::ranges::stable_sort. That of GCC 12's library uses a function that C++20 has removed,
/// and clang warns of it.
template <class T, class Projection>
void sort_stably(std::vector<T>& values, Projection projection) {
  std::multimap<std::decay_t<std::invoke_result_t<Projection, T&>>, T> sorted;
  for (T& value : values) {
    auto key = std::invoke(projection, value);
    sorted.emplace(std::move(key), std::move(value));
  }
  values.clear();
  for (auto& each : sorted) values.push_back(std::move(each.second));
}

}  // namespace latchkey::chaos
