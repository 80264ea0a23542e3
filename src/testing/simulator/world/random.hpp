// The random numbers of a simulation: its only source of chance.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::sim {

/// The splitmix64 generator. The same seed gives the same numbers on every machine, which the
/// distributions of the standard library do not guarantee.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed * 0x9e3779b97f4a7c15 + 1) {}

  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t word = (state_ += 0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

  /// In [0, bound); 0 if the bound is 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
    return bound == 0 ? 0 : next() % bound;
  }

  [[nodiscard]] bool percent(unsigned chance) noexcept { return below(100) < chance; }

  /// In [least, most].
  [[nodiscard]] Clock::duration between(Clock::duration least, Clock::duration most) noexcept {
    const auto range = static_cast<std::uint64_t>((most - least).count());
    return least + Clock::duration(static_cast<Clock::rep>(below(range + 1)));
  }

  template <class Value>
  [[nodiscard]] Value pick(std::initializer_list<Value> values) noexcept {
    return values.begin()[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace latchkey::inline v1::sim
