// The hash of key texts: FNV-1a 64 finished with fmix64. A wire format: its values never change.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {

// Consumes bytes incrementally, so that a text of any length is hashed without being stored.
class Fnv1a {
 public:
  constexpr void append(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      state_ = (state_ ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3U;
    }
  }

  // The low bits of FNV are weak: the finisher of MurmurHash3 makes `% 64` uniform.
  [[nodiscard]] constexpr std::uint64_t finished() const {
    std::uint64_t value = state_;
    value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCDU;
    value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53U;
    return value ^ (value >> 33);
  }

  [[nodiscard]] constexpr std::uint64_t mark() const { return state_; }
  constexpr void reset(std::uint64_t mark) { state_ = mark; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325U;
};

}  // namespace detail

/// The value of `hash(...)` for an expression that renders to `text`.
constexpr std::uint64_t key_hash(std::string_view text) {
  detail::Fnv1a hash;
  hash.append(text.data(), text.size());
  return hash.finished();
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
