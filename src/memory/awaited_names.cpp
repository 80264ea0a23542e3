// The listing of keys that are waited for.
// SPDX-License-Identifier: BSL-1.0
#include "memory/awaited_names.hpp"

#include <range/v3/algorithm/sort.hpp>
#include <range/v3/view/subrange.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <tuple>

namespace latchkey::inline v1::detail {

void keep_most_awaited(std::vector<std::string>& names, ListPart& part) {
  const auto first = names.end() - static_cast<std::ptrdiff_t>(part.waiters.size());
  const auto both = ranges::views::zip(part.waiters, ranges::subrange(first, names.end()));
  ranges::sort(both, std::greater(), [](const auto& entry) { return std::get<0>(entry); });
  const std::size_t kept = std::min<std::size_t>(part.waiters.size(), part.budget);
  names.erase(first + static_cast<std::ptrdiff_t>(kept), names.end());
  part.waiters.resize(kept);
}

}  // namespace latchkey::inline v1::detail
