// Two resources that a lock guards: one checks fencing tokens, one does not.
#pragma once

#include <atomic>
#include <cstdint>

namespace latchkey::soak {

/// A number that accepts every write. Allocates nothing, so processes can share it.
class PlainRegister {
 public:
  [[nodiscard]] std::uint64_t read() const { return value_; }
  void write(std::uint64_t value) {
    ++writes_;
    value_ = value;
  }

  /// Every write adds one to the number that was read, so lost() writes were overwritten.
  [[nodiscard]] std::uint64_t writes() const { return writes_; }
  [[nodiscard]] std::uint64_t lost() const { return writes_ - value_; }

 private:
  std::atomic<std::uint64_t> value_{0}, writes_{0};
};

/// A number that rejects writes with a smaller token than an earlier access had. Reads present a
/// token, too. Allocates nothing, so processes can share it.
///
/// Token and number share one word, so a process that is stopped at any instruction leaves neither
/// a locked mutex nor half a write. The word has 24 bits of the number and the low 40 bits of the
/// token, which wrap around after twelve days at one token per microsecond.
class FencedRegister {
 public:
  std::uint64_t read(std::uint64_t token) {
    const std::uint64_t mine = token & token_mask;
    std::uint64_t seen = word_;
    while (token_of(seen) < mine && !word_.compare_exchange_weak(seen, join(mine, seen))) {
    }
    return word_ & value_mask;
  }

  void write(std::uint64_t token, std::uint64_t value) {
    const std::uint64_t mine = token & token_mask;
    std::uint64_t seen = word_;
    do {
      if (token_of(seen) > mine) {
        ++refused_;
        return;
      }
    } while (!word_.compare_exchange_weak(seen, join(mine, value)));
    ++writes_;
  }

  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  [[nodiscard]] std::uint64_t lost() const { return writes_ - (word_ & value_mask); }

 private:
  static constexpr int value_bits = 24;
  static constexpr std::uint64_t value_mask = (std::uint64_t{1} << value_bits) - 1;
  static constexpr std::uint64_t token_mask = (std::uint64_t{1} << 40) - 1;

  static std::uint64_t token_of(std::uint64_t word) { return word >> value_bits; }
  static std::uint64_t join(std::uint64_t token, std::uint64_t value) {
    return token << value_bits | (value & value_mask);
  }

  std::atomic<std::uint64_t> word_{0}, writes_{0}, refused_{0};
};

}  // namespace latchkey::soak
