// Integers as decimal text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

inline constexpr std::size_t max_decimal_size = 20;

inline constexpr char digit_pairs[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546"
    "4748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293"
    "949596979899";

inline constexpr std::uint64_t powers_of_ten[] = {0,
                                                  10,
                                                  100,
                                                  1000,
                                                  10000,
                                                  100000,
                                                  1000000,
                                                  10000000,
                                                  100000000,
                                                  1000000000,
                                                  10000000000,
                                                  100000000000,
                                                  1000000000000,
                                                  10000000000000,
                                                  100000000000000,
                                                  1000000000000000,
                                                  10000000000000000,
                                                  100000000000000000,
                                                  1000000000000000000,
                                                  10000000000000000000U};

inline unsigned decimal_size(std::uint64_t number) {
  // 1233/4096 is slightly more than log10(2): the bit width gives the digits, or one too many.
  const auto bits = static_cast<unsigned>(std::bit_width(number | 1));
  const unsigned guess = (bits * 1233) >> 12;
  return guess + (number >= powers_of_ten[guess] ? 1 : 0);
}

inline void write_pair(char* place, std::uint32_t below_100) {
  std::memcpy(place, digit_pairs + below_100 * 2, 2);
}

/// Writes the number's digits to `place` and returns their count.
inline unsigned write_decimal(char* place, std::uint64_t number) {
  const unsigned size = decimal_size(number);
  char* end = place + size;
  // Four digits at a time: dependent divisions are the main cost.
  while (number >= 10000) {
    const auto four = static_cast<std::uint32_t>(number % 10000);
    number /= 10000;
    end -= 4;
    write_pair(end, four / 100);
    write_pair(end + 2, four % 100);
  }
  auto rest = static_cast<std::uint32_t>(number);
  if (rest >= 100) {
    write_pair(end - 2, rest % 100);
    rest /= 100;
  }
  if (rest >= 10) {
    write_pair(place, rest);
  } else {
    *place = static_cast<char>('0' + rest);
  }
  return size;
}

/// An integer of any width and sign that a key can hold.
struct Integer {
  std::uint64_t magnitude = 0;
  bool negative = false;

  /// 0..modulus-1, for negative integers too. `modulus` > 0.
  [[nodiscard]] constexpr Integer modulo(std::uint64_t modulus) const {
    const std::uint64_t rest = magnitude % modulus;
    return {negative && rest != 0 ? modulus - rest : rest, false};
  }
};

template <class T>
constexpr Integer integer_from(T value) {
  // The magnitude of the most negative integer does not fit the signed type, so negate as unsigned.
  const auto bits = static_cast<std::uint64_t>(value);
  if constexpr (T(-1) < T(0)) {
    return value < 0 ? Integer{0 - bits, true} : Integer{bits, false};
  } else {
    return {bits, false};
  }
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
