// A string with inline storage, for the key of a record.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace latchkey::inline v1::detail {

/// Stores up to 64 bytes inline, next to the record's other data; longer texts are on the heap.
/// Neither copyable nor movable. Compared with std::string, assigning and comparing a short text
/// takes a few instructions without a call.
class InlineString {
 public:
  static constexpr std::size_t short_size = 64;

  InlineString() noexcept = default;
  InlineString(const InlineString&) = delete;
  InlineString& operator=(const InlineString&) = delete;
  ~InlineString() = default;

  /// Throws std::bad_alloc for a long text, and then keeps the old text.
  InlineString& operator=(std::string_view text) {
    if (text.size() <= short_size) [[likely]] {
      copy_short(short_.data(), text.data(), text.size());
      drop_long();
    } else {
      copy_long(text);
    }
    size_ = static_cast<std::uint32_t>(text.size());
    return *this;
  }

  void clear() noexcept {
    size_ = 0;
    drop_long();
  }

  [[nodiscard]] const char* data() const noexcept {
    return long_ == nullptr ? short_.data() : long_.get();
  }
  [[nodiscard]] std::string_view view() const noexcept { return {data(), size_}; }
  // NOLINTNEXTLINE(google-explicit-constructor): it is a text
  operator std::string_view() const noexcept { return view(); }

  friend bool operator==(const InlineString& left, std::string_view right) noexcept {
    if (left.size_ != right.size()) return false;
    if (left.long_ == nullptr) [[likely]] {
      return equal_short(left.short_, right);
    }
    return std::memcmp(left.long_.get(), right.data(), left.size_) == 0;
  }

 private:
  [[gnu::noinline]] void copy_long(std::string_view text) {
    auto copy = std::make_unique<char[]>(text.size());
    std::memcpy(copy.get(), text.data(), text.size());
    long_ = std::move(copy);
  }
  void drop_long() noexcept {
    if (long_ != nullptr) [[unlikely]] {
      long_.reset();
    }
  }

  template <class Word>
  static Word load(const char* from) noexcept {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }

  // The first and the last word overlap if the size is not a multiple of the word; words of 8 bytes
  // in between.
  static void copy_short(char* to, const char* from, std::size_t size) noexcept {
    const auto ends = [&]<class Word>(Word) {
      const Word last = load<Word>(from + size - sizeof(Word));
      std::memcpy(to, from, sizeof(Word));
      std::memcpy(to + size - sizeof(Word), &last, sizeof(Word));
    };
    if (size >= 8) {
      for (std::size_t at = 8; at + 8 < size; at += 8) std::memcpy(to + at, from + at, 8);
      ends(std::uint64_t{});
    } else if (size >= 4) {
      ends(std::uint32_t{});
    } else {
      for (std::size_t at = 0; at < size; ++at) to[at] = from[at];
    }
  }

  static bool equal_short(const std::array<char, short_size>& left,
                          std::string_view right) noexcept {
    const std::size_t size = right.size();
    const auto difference_at = [&]<class Word>(Word, std::size_t at) {
      return load<Word>(left.data() + at) ^ load<Word>(right.data() + at);
    };
    if (size >= 8) {
      std::uint64_t difference = difference_at(std::uint64_t{}, size - 8);
      for (std::size_t at = 0; at + 8 < size; at += 8) {
        difference |= difference_at(std::uint64_t{}, at);
      }
      return difference == 0;
    }
    if (size >= 4) {
      return (difference_at(std::uint32_t{}, 0) | difference_at(std::uint32_t{}, size - 4)) == 0;
    }
    // The first, the one in the middle and the last are all.
    return size == 0 || (left[0] == right[0] && left[size / 2] == right[size / 2] &&
                         left[size - 1] == right[size - 1]);
  }

  std::uint32_t size_ = 0;
  std::unique_ptr<char[]> long_;
  std::array<char, short_size> short_;  // NOLINT: only the first size_ bytes are ever read
};

}  // namespace latchkey::inline v1::detail
