// What a path gave: read once for each call, then written wherever the key
// wants it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <latchkey/key/decimal.hpp>
#include <latchkey/key/failure.hpp>
#include <latchkey/reflect/shape.hpp>

namespace latchkey::detail {

/// `reason` tells whether there is a value at all; `integer` is one where
/// `is_text` is false.
struct Value {
  static constexpr bool value = true;  // as a verdict on a key: it fits

  Reason reason = Reason::NONE;
  bool is_text = false;
  Integer integer{};
  std::string_view text{};
};

constexpr Value text_value(std::string_view text) { return {Reason::NONE, true, {}, text}; }
constexpr Value integer_value(Integer integer) { return {Reason::NONE, false, integer, {}}; }
constexpr Value no_value(Reason reason) { return {reason, false, {}, {}}; }

/// Texts that a getter returned by value, kept until the key is rendered. Up to
/// 64 bytes in place.
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

}  // namespace latchkey::detail
