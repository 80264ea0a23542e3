// The text form of a Fence.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/fence.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <latchkey/detail/in_quotes.hpp>

#include "core/text/nearest.hpp"
#include "core/text/number.hpp"

namespace latchkey::inline v1 {
namespace {

using detail::in_quotes;

constexpr std::array fence_types{to_string(LockType::REENTRANT), to_string(LockType::FAIR),
                                 to_string(LockType::READ), to_string(LockType::WRITE),
                                 to_string(LockType::FENCED)};

/// Whether the byte stands for itself in a text.
constexpr bool is_plain(char byte) noexcept {
  constexpr std::string_view separators = "%/,;\"'`\\";
  return byte > ' ' && byte < '\x7f' && separators.find(byte) == std::string_view::npos;
}

/// The byte that two hexadecimal digits spell.
std::optional<char> spelled_byte(std::string_view digits) noexcept {
  unsigned value = 0;
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  if (digits.size() != 2 || error != std::errc() || stop != end) return std::nullopt;
  return static_cast<char>(value);
}

/// Reads one fence from left to right.
class FenceReader {
 public:
  explicit FenceReader(std::string_view text) : text_(text) {}

  Fence read() {
    Fence fence;
    fence.key = read_key();
    fence.type = read_type();
    fence.token = read_token();
    return fence;
  }

 private:
  [[noreturn]] void reject(std::size_t at, const std::string& sentence) const {
    throw FenceError(text_, at + 1, sentence);
  }

  /// Takes the slash that ends a part.
  void skip_slash(const char* part) {
    if (at_ == text_.size()) {
      reject(at_, std::string("the text ends after the ") + part + "; expected key/TYPE/token");
    }
    ++at_;
  }

  std::string read_key() {
    std::string key;
    while (at_ < text_.size() && text_[at_] != '/') {
      if (text_[at_] == '%') {
        const std::optional<char> byte = spelled_byte(text_.substr(at_ + 1, 2));
        if (!byte) reject(at_, "'%' must be followed by two hexadecimal digits");
        key += *byte;
        at_ += 3;
      } else if (is_plain(text_[at_])) {
        key += text_[at_++];
      } else {
        reject(at_, "a key has no " + in_quotes(text_.substr(at_, 1)) +
                        " here; expected it as '%' and two hexadecimal digits");
      }
    }
    skip_slash("key");
    return key;
  }

  LockType read_type() {
    const std::string_view word = text_.substr(at_, text_.find('/', at_) - at_);
    const std::optional<LockType> type = parse_lock_type(word);
    if (!type) {
      reject(at_, "unknown lock type " + detail::quoted_word(word) +
                      detail::nearest_words(word, fence_types));
    }
    at_ += word.size();
    skip_slash("type");
    return *type;
  }

  [[nodiscard]] std::uint64_t read_token() const {
    const std::string_view word = text_.substr(at_);
    std::uint64_t token = 0;
    if (!detail::read_number(word, token) || word.front() == '0') {
      reject(at_, "the token is " + detail::quoted_word(word) +
                      "; expected a decimal number from 1 to 18446744073709551615");
    }
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string Fence::escaped_key() const {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string escaped;
  escaped.reserve(key.size());
  for (const char byte : key) {
    if (is_plain(byte)) {
      escaped += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    escaped += '%';
    escaped += digits[value >> 4U];
    escaped += digits[value & 15U];
  }
  return escaped;
}

std::string Fence::text() const {
  std::string text = escaped_key();
  text += '/';
  text += to_string(type);
  text += '/';
  return text += std::to_string(token);
}

Fence Fence::parse(std::string_view text) { return FenceReader(text).read(); }

bool Fence::is_newer_than(const Fence& other) const {
  if (key != other.key) {
    throw std::invalid_argument("latchkey: the fences " + text() + " and " + other.text() +
                                " are of different keys, whose tokens cannot be compared");
  }
  return token > other.token;
}

Fence check_fence(std::string_view text, std::string_view key, LockType type) {
  Fence fence = Fence::parse(text);
  if (fence.key != key) {
    const std::string expected = Fence{.key = std::string(key)}.escaped_key();
    throw FenceError(
        text, 1,
        "the key is " + in_quotes(fence.escaped_key()) + "; expected " + in_quotes(expected));
  }
  if (fence.type != type) {
    throw FenceError(text, text.find('/') + 2,
                     "the lock type is " + std::string(to_string(fence.type)) + "; expected " +
                         std::string(to_string(type)));
  }
  return fence;
}

}  // namespace latchkey::inline v1
