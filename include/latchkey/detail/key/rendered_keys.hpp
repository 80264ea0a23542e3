// Several rendered keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/key_buffer.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// Owns the texts of several keys, in the order in which they were added. Eight keys of up to 64
/// bytes need no heap memory. Not thread-safe.
class RenderedKeys {
 public:
  RenderedKeys() noexcept {}  // NOLINT: only what size_ counts is ever read
  RenderedKeys(const RenderedKeys&) = delete;
  RenderedKeys& operator=(const RenderedKeys&) = delete;
  ~RenderedKeys() {
    for (std::size_t index = 0; index < few(); ++index) std::destroy_at(&at(index));
  }

  /// A new key, which is rendered into its place: a text that is copied right after its parts were
  /// written waits until they have reached the cache. Throws std::bad_alloc.
  [[nodiscard]] KeyBuffer& add() {
    if (size_ >= most_few) [[unlikely]] {
      return add_to_many();
    }
    return *::new (static_cast<void*>(few_[size_++].bytes)) KeyBuffer;
  }

  /// Valid until the next key is added. Throws std::bad_alloc for more than eight keys.
  [[nodiscard]] std::span<const std::string_view> view() {
    for (std::size_t index = 0; index < few(); ++index) views_[index] = at(index).view();
    return size_ <= most_few ? std::span(views_).first(size_) : view_many();
  }
  [[nodiscard]] std::vector<std::string> strings();

 private:
  static constexpr std::size_t most_few = 8;
  struct Room {
    alignas(KeyBuffer) std::byte bytes[sizeof(KeyBuffer)];
  };

  [[nodiscard]] std::size_t few() const noexcept { return size_ < most_few ? size_ : most_few; }
  [[nodiscard]] KeyBuffer& at(std::size_t index) noexcept {
    return *std::launder(reinterpret_cast<KeyBuffer*>(few_[index].bytes));
  }
  KeyBuffer& add_to_many();
  std::span<const std::string_view> view_many();

  std::size_t size_ = 0;
  std::array<std::string_view, most_few> views_;
  std::array<Room, most_few> few_;
  std::list<KeyBuffer> many_;  ///< those that follow the few
  std::vector<std::string_view> all_views_;
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
