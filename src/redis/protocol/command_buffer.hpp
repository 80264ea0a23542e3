// Commands for Redis as bytes, in a buffer that is reused.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace latchkey::inline v1::detail::redis {

/// Appends commands in RESP (`*2\r\n$3\r\nGET\r\n$1\r\nk\r\n`). Keeps its memory, so that a warm
/// buffer allocates nothing. Binary safe. One thread at a time.
///
///     buffer.begin(3);
///     buffer.word("SET"), buffer.word(key), buffer.number(17);
///
/// After `begin(n)` the caller appends exactly n words.
class CommandBuffer {
 public:
  /// Starts a command of `words` words, its name included.
  void begin(std::size_t words) { head('*', words); }

  void word(std::string_view text) {
    head('$', text.size());
    append(text);
    append("\r\n");
  }
  /// One word that is made of several pieces.
  void word(std::initializer_list<std::string_view> pieces) {
    std::size_t size = 0;
    for (const std::string_view piece : pieces) size += piece.size();
    head('$', size);
    for (const std::string_view piece : pieces) append(piece);
    append("\r\n");
  }
  /// A number in decimal.
  void number(std::integral auto value) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    word(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  /// A whole command. For commands that are sent rarely.
  void command(std::initializer_list<std::string_view> words) {
    begin(words.size());
    for (const std::string_view each : words) word(each);
  }

  /// The bytes that are still to be sent.
  [[nodiscard]] std::string_view bytes() const noexcept {
    return {bytes_.data() + sent_, bytes_.size() - sent_};
  }
  [[nodiscard]] bool empty() const noexcept { return sent_ == bytes_.size(); }

  /// The first `count` bytes were sent.
  void drop_front(std::size_t count) noexcept {
    sent_ += count;
    if (empty()) clear();
  }
  void clear() noexcept {
    bytes_.clear();
    sent_ = 0;
  }

 private:
  void head(char sign, std::size_t count) {
    char text[24]{};
    text[0] = sign;
    char* end = std::to_chars(text + 1, text + sizeof text - 2, count).ptr;
    *end++ = '\r';
    *end++ = '\n';
    append({text, static_cast<std::size_t>(end - text)});
  }
  void append(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }

  std::vector<char> bytes_;
  std::size_t sent_ = 0;
};

}  // namespace latchkey::inline v1::detail::redis
