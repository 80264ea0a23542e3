// The buffer that keys are rendered into.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The size that no key exceeds, with the prefix of its Locks.
inline constexpr std::size_t max_key_size = 1024;

/// Stores keys of up to 64 bytes (and a little more) inline and longer ones on the heap, up to 1
/// KiB. Bytes beyond 1 KiB are dropped, and overflowed() returns true then. Not thread-safe.
class KeyBuffer {
 public:
  KeyBuffer() noexcept : data_(inline_) {}
  KeyBuffer(const KeyBuffer&) = delete;
  KeyBuffer& operator=(const KeyBuffer&) = delete;
  ~KeyBuffer() {
    if (data_ != inline_) delete[] data_;
  }

  [[nodiscard]] std::string_view view() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_ || size_ > max_key_size; }

  void clear() noexcept {
    size_ = 0;
    overflowed_ = false;
  }

  /// Throws std::bad_alloc.
  void append(const char* bytes, std::size_t count) {
    if (!make_room(count)) return;
    std::memcpy(data_ + size_, bytes, count);
    size_ += count;
  }

  /// Room for `count` bytes; commit() sets how many were written. Null beyond 1 KiB.
  [[nodiscard]] char* reserve(std::size_t count) {
    return make_room(count) ? data_ + size_ : nullptr;
  }
  void commit(std::size_t count) noexcept { size_ += count; }

  /// A position to return to, if an alternative turns out to be absent.
  [[nodiscard]] std::size_t mark() const noexcept { return size_; }
  void reset(std::size_t mark) noexcept { size_ = mark; }

 private:
  static constexpr std::size_t inline_size = 88;

  bool make_room(std::size_t count) { return count <= capacity_ - size_ || grow(count); }
  bool grow(std::size_t count);

  char* data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = inline_size;
  bool overflowed_ = false;
  char inline_[inline_size];
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
