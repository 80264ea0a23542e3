// A set of small numbers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace latchkey::inline v1::detail {

/// A set of numbers below `size`, which are visited in ascending order. Inserting and visiting a
/// few takes no branch that depends on their values: the numbers come from hashes, so a processor
/// would predict every second one wrongly.
template <std::size_t size>
class IndexSet {
 public:
  IndexSet() noexcept {}  // NOLINT: only what few_ counts is ever read

  void insert(std::size_t index) noexcept {
    if (few_ == most_few) [[unlikely]] {
      return insert_into_many(index);
    }
    for (std::size_t place = 0; place < few_; ++place) {
      const std::size_t lower = std::min(sorted_[place], index);
      index = std::max(sorted_[place], index);
      sorted_[place] = lower;
    }
    sorted_[few_++] = index;
  }

  /// Calls `visit(index)` for each.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (many_) [[unlikely]] {
      return visit_many(visit);
    }
    for (std::size_t place = 0; place < few_; ++place) {
      const bool again = place > 0 && sorted_[place] == sorted_[place - 1];
      if (!again) visit(sorted_[place]);
    }
  }

 private:
  static constexpr std::size_t bits = 64, most_few = 16;
  static_assert(size % bits == 0);

  void insert_into_many(std::size_t index) noexcept {
    const auto set = [&](std::size_t each) {
      words_[each / bits] |= std::uint64_t{1} << (each % bits);
    };
    if (!many_) {
      words_.fill(0);
      std::ranges::for_each(sorted_, set);
      many_ = true;
    }
    set(index);
  }
  template <class Visit>
  void visit_many(Visit& visit) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
        visit(bits * word + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
  }

  std::size_t few_ = 0;
  bool many_ = false;
  std::array<std::size_t, most_few> sorted_;      // perhaps some twice
  std::array<std::uint64_t, size / bits> words_;  // all, if they are many
};

}  // namespace latchkey::inline v1::detail
