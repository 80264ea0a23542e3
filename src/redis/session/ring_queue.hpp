// A queue in one array.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace latchkey::inline v1::detail::redis {

/// First in, first out. Slots are reused as they are, so that strings in them keep their memory and
/// a warm queue allocates nothing. After `push` the caller sets every member.
template <class Entry>
class RingQueue {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// `index` counts from the oldest.
  [[nodiscard]] Entry& operator[](std::size_t index) noexcept {
    return slots_[(first_ + index) & (slots_.size() - 1)];
  }
  [[nodiscard]] const Entry& operator[](std::size_t index) const noexcept {
    return slots_[(first_ + index) & (slots_.size() - 1)];
  }

  /// The next `more` calls of push do not throw.
  void reserve(std::size_t more) {
    std::size_t slots = slots_.empty() ? least_slots : slots_.size();
    while (slots < size_ + more) slots *= 2;
    if (slots == slots_.size()) return;
    std::vector<Entry> larger(slots);
    for (std::size_t index = 0; index < size_; ++index) larger[index] = std::move((*this)[index]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  Entry& push() {
    reserve(1);
    return (*this)[size_++];
  }

  void pop() noexcept {
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
  }

  void clear() noexcept { first_ = size_ = 0; }

 private:
  static constexpr std::size_t least_slots = 64;  // a power of two, as all sizes are

  std::vector<Entry> slots_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace latchkey::inline v1::detail::redis
