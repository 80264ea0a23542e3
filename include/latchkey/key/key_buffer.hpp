// Where a key is rendered to.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace latchkey {

inline constexpr std::size_t max_key_size = 1024;

/// Bytes in place for every key up to 64 of them (and a little more), on the heap beyond that, up
/// to 1 KiB. What is appended beyond 1 KiB is dropped and overflowed() says so. Not thread-safe.
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

  /// A place for `count` bytes, of which commit() says how many were written; null beyond 1 KiB.
  [[nodiscard]] char* reserve(std::size_t count) {
    return make_room(count) ? data_ + size_ : nullptr;
  }
  void commit(std::size_t count) noexcept { size_ += count; }

  /// To come back to what was there: an alternative that turned out to be absent.
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

}  // namespace latchkey
