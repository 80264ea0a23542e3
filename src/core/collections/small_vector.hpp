// A vector whose first elements are stored inline.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace latchkey::inline v1::detail {

/// The first `room` elements need no heap memory. Elements are contiguous: data() to data() +
/// size().
template <class Element, std::size_t room>
class SmallVector {
 public:
  static_assert(std::is_trivially_copyable_v<Element>);

  SmallVector() noexcept {}  // NOLINT: only what size_ counts is ever read
  SmallVector(const SmallVector&) = delete;
  SmallVector& operator=(const SmallVector&) = delete;

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Element* data() noexcept { return size_ <= room ? few() : many_->data(); }
  [[nodiscard]] Element* begin() noexcept { return data(); }
  [[nodiscard]] Element* end() noexcept { return data() + size_; }
  [[nodiscard]] Element& operator[](std::size_t index) noexcept { return data()[index]; }

  void push_back(Element element) {
    if (size_ < room) {
      ::new (static_cast<void*>(&few_.elements[size_++])) Element(element);
    } else {
      push_back_beyond(element);
    }
  }

  /// Makes the element in its place.
  template <class... Parts>
  void emplace_back(const Parts&... parts) {
    if (size_ < room) {
      ::new (static_cast<void*>(&few_.elements[size_++])) Element{parts...};
    } else {
      push_back_beyond(Element{parts...});
    }
  }

  /// Makes the next push_back non-throwing. Returns false if memory is exhausted.
  [[nodiscard]] bool make_room() noexcept {
    if (size_ < room) return true;
    try {
      if (many_ == nullptr) many_ = std::make_unique<std::vector<Element>>();
      if (many_->capacity() <= size_) many_->reserve(2 * size_);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  /// Keeps the first `count` elements.
  void shorten(std::size_t count) noexcept {
    if (size_ > room && count <= room) {
      std::uninitialized_copy_n(many_->begin(), count, few());
    }
    size_ = count;
  }
  void clear() noexcept { size_ = 0; }

 private:
  void push_back_beyond(Element element) {
    if (many_ == nullptr) many_ = std::make_unique<std::vector<Element>>();
    if (size_ == room) many_->assign(few(), few() + room);
    many_->resize(size_);
    many_->push_back(element);
    ++size_;
  }

  /// Its elements begin their lives one by one.
  union Room {
    Room() noexcept {}  // NOLINT: only what size_ counts is ever read
    Element elements[room];
  };

  Element* few() noexcept { return few_.elements; }

  Room few_;
  std::size_t size_ = 0;
  std::unique_ptr<std::vector<Element>> many_;  // all elements, if there are more than `room`
};

}  // namespace latchkey::inline v1::detail
