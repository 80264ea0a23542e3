// The value of a path: read once for each call, then written wherever the key uses it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <latchkey/detail/key/decimal.hpp>
#include <latchkey/detail/key/failure.hpp>
#include <latchkey/detail/reflect/shape.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// `reason` is NONE if there is a value; it is `text` if `is_text` is true, else `integer`.
struct Value {
  static constexpr bool value = true;  // as a result of checking a key: the path fits

  Reason reason = Reason::none;
  bool is_text = false;
  Integer integer{};
  std::string_view text{};
};

constexpr Value text_value(std::string_view text) { return {Reason::none, true, {}, text}; }
constexpr Value integer_value(Integer integer) { return {Reason::none, false, integer, {}}; }
constexpr Value no_value(Reason reason) { return {reason, false, {}, {}}; }

/// Stores texts that a getter returned by value until the key is rendered. Up to 64 bytes are
/// stored inline.
class Scratch {
 public:
  Scratch() noexcept = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (blocks_ != nullptr) release();
  }

  /// Throws std::bad_alloc.
  std::string_view keep(std::string_view text);

 private:
  struct Block;

  void release() noexcept;

  Block* blocks_ = nullptr;
  std::size_t used_ = 0;
  char inline_[64];
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
