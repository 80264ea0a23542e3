// The part of Protocol Buffers that etcd's messages consist of.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail::etcd {

/// Appends fields to a message. As in proto3, a zero and an empty text are left out.
class ProtobufWriter {
 public:
  ProtobufWriter& number(std::uint32_t field, std::int64_t value) {
    if (value == 0) return *this;
    varint(field << 3U);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  ProtobufWriter& bytes(std::uint32_t field, std::string_view value) {
    return value.empty() ? *this : message(field, value);
  }
  /// Writes an empty value, too: as a member of a oneof it means something.
  ProtobufWriter& message(std::uint32_t field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    text_ += value;
    return *this;
  }
  [[nodiscard]] std::string take() noexcept { return std::move(text_); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) text_ += static_cast<char>(value | 0x80U);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

/// Reads the fields of a message one after the other.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) noexcept : left_(message) {}

  /// The next field; false: there is none, or it is malformed.
  [[nodiscard]] bool next() noexcept {
    if (!whole_ || left_.empty()) return false;
    whole_ = read();
    return whole_;
  }
  /// False: the last field is cut off, or of an unknown kind, and was not read.
  [[nodiscard]] bool is_whole() const noexcept { return whole_; }
  [[nodiscard]] std::uint32_t field() const noexcept { return field_; }
  [[nodiscard]] std::int64_t number() const noexcept { return static_cast<std::int64_t>(number_); }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] bool read() noexcept {
    std::uint64_t tag = 0;
    if (!varint(tag)) return false;
    field_ = static_cast<std::uint32_t>(tag >> 3U);
    number_ = 0;
    bytes_ = {};
    switch (tag & 7U) {
      case 0: return varint(number_);
      case 1: return take(8);
      case 2: {
        std::uint64_t size = 0;
        return varint(size) && take(size);
      }
      case 5: return take(4);
      default: return false;
    }
  }
  [[nodiscard]] bool varint(std::uint64_t& value) noexcept {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return true;
    }
    return false;
  }
  [[nodiscard]] bool take(std::uint64_t size) noexcept {
    if (size > left_.size()) return false;
    bytes_ = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }

  std::string_view left_, bytes_;
  std::uint64_t number_ = 0;
  std::uint32_t field_ = 0;
  bool whole_ = true;
};

}  // namespace latchkey::inline v1::detail::etcd
