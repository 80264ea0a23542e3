// Values of a segment as bytes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "host/segment/segment_format.hpp"

namespace latchkey::inline v1::detail::host {

/// Appends to a vector that is used again.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& to) noexcept : to_(to) { to_.clear(); }

  template <class Value>
    requires std::is_trivially_copyable_v<Value>
  void put(const Value& value) {
    append(&value, sizeof value);
  }
  void put(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    append(text.data(), text.size());
  }

 private:
  void append(const void* from, std::size_t size) {
    if (size == 0) return;
    const std::size_t at = to_.size();
    to_.resize(at + size);
    std::memcpy(to_.data() + at, from, size);
  }
  std::vector<std::byte>& to_;
};

/// Throws Damaged where the bytes end too early.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> from) noexcept : from_(from) {}

  template <class Value>
    requires std::is_trivially_copyable_v<Value>
  [[nodiscard]] Value get() {
    Value value;
    const std::span<const std::byte> bytes = take(sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view text() {
    const std::span<const std::byte> bytes = take(get<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (size > from_.size()) throw Damaged("a value that ends too early");
    const std::span<const std::byte> bytes = from_.first(size);
    from_ = from_.subspan(size);
    return bytes;
  }
  std::span<const std::byte> from_;
};

}  // namespace latchkey::inline v1::detail::host
