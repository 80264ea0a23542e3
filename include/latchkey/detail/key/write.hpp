// Writes values as bytes of a key: escapes, letter case, numbers. Shared by compiled and parsed
// keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <latchkey/detail/key/bytes.hpp>
#include <latchkey/detail/key/decimal.hpp>
#include <latchkey/key_buffer.hpp>
#include <latchkey/key_hash.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

enum class Letters : std::uint8_t { kept, lower, upper };

/// The effect of the functions around a value; the outermost letter case takes precedence.
struct Style {
  bool raw = false;
  Letters letters = Letters::kept;

  friend constexpr bool operator==(const Style&, const Style&) = default;
};

using Bytes16 = signed char __attribute__((vector_size(16)));

// Tests sixteen bytes at once for the same set as is_escaped: an element is not zero if its byte is
// in it.
inline Bytes16 escaped_of(Bytes16 bytes) {
  using Unsigned16 = unsigned char __attribute__((vector_size(16)));
  return (reinterpret_cast<Unsigned16>(bytes) <= ' ') | ((bytes >= '{') & (bytes != '~')) |
         ((bytes | 4) == '\'') | (bytes == '%') | (bytes == ',') | (bytes == '/') | (bytes == ':');
}

inline bool any(Bytes16 bytes) {
  std::uint64_t halves[2];
  std::memcpy(halves, &bytes, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

/// Copies `size` bytes and returns whether any of them needs an escape.
inline bool copy_plain(char* place, const char* bytes, std::size_t size) {
  Bytes16 word;
  if (size >= 16) {
    Bytes16 found{};
    for (std::size_t at = 0;; at = at + 32 <= size ? at + 16 : size - 16) {
      std::memcpy(&word, bytes + at, 16);
      std::memcpy(place + at, &word, 16);
      found |= escaped_of(word);
      if (at + 16 == size) return any(found);
    }
  }
  if (size >= 8) {
    std::uint64_t ends[2];
    std::memcpy(&ends[0], bytes, 8);
    std::memcpy(&ends[1], bytes + size - 8, 8);
    std::memcpy(place, &ends[0], 8);
    std::memcpy(place + size - 8, &ends[1], 8);
    std::memcpy(&word, ends, 16);
    return any(escaped_of(word));
  }
  bool found = false;
  for (std::size_t at = 0; at < size; ++at) {
    place[at] = bytes[at];
    found |= escaped_bytes[static_cast<unsigned char>(bytes[at])];
  }
  return found;
}

template <class Out>
void append_escape(Out& out, char byte) {
  constexpr char digits[] = "0123456789ABCDEF";
  const auto bits = static_cast<unsigned char>(byte);
  const char escape[3] = {'%', digits[bits >> 4], digits[bits & 15]};
  out.append(escape, 3);
}

/// Appends runs of plain bytes unchanged and other bytes as %XX.
template <class Out>
void append_escaped(Out& out, std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!escaped_bytes[static_cast<unsigned char>(text[at])]) continue;
    if (at > begin) out.append(text.data() + begin, at - begin);
    append_escape(out, text[at]);
    begin = at + 1;
  }
  if (text.size() > begin) out.append(text.data() + begin, text.size() - begin);
}

/// `text` must not be empty: the caller rejects that.
template <class Out>
void put_escaped(Out& out, std::string_view text) {
  append_escaped(out, text);
}

inline void put_escaped(KeyBuffer& out, std::string_view text) {
  char* const place = out.reserve(text.size());
  if (place == nullptr) return;
  if (copy_plain(place, text.data(), text.size())) {
    append_escaped(out, text);
  } else {
    out.commit(text.size());
  }
}

template <class Out>
void put_changed(Out& out, std::string_view text, Style style) {
  for (const char byte : text) {
    const char changed = style.letters == Letters::lower ? lower(byte) : upper(byte);
    if (!style.raw && is_escaped(static_cast<unsigned char>(changed))) {
      append_escape(out, changed);
    } else {
      out.append(&changed, 1);
    }
  }
}

template <class Out>
void put_text(Out& out, std::string_view text, Style style) {
  if (style.letters != Letters::kept) return put_changed(out, text, style);
  if (style.raw) return out.append(text.data(), text.size());
  put_escaped(out, text);
}

template <class Out>
void put_integer(Out& out, Integer value) {
  char digits[max_decimal_size + 1];
  digits[0] = '-';
  const unsigned size = write_decimal(digits + 1, value.magnitude);
  if (value.negative) {
    out.append(digits, size + 1);
  } else {
    out.append(digits + 1, size);
  }
}

inline void put_integer(KeyBuffer& out, Integer value) {
  char* place = out.reserve(max_decimal_size + 1);
  if (place == nullptr) return;
  *place = '-';
  const unsigned sign = value.negative ? 1 : 0;
  out.commit(sign + write_decimal(place + sign, value.magnitude));
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
