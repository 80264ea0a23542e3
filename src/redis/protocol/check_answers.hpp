// The answers of one call of lua/check_batch.lua, one for each of its holds.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace latchkey::inline v1::detail::redis {

/// The answers of one call, in the order of its requests.
class CheckAnswers {
 public:
  enum class Answer : std::uint8_t {
    held,     ///< renewed, or still held
    gone,     ///< this owner does not hold it any more
    unclear,  ///< the hold is to be checked by a call of its own
  };
  /// How many holds one call may check. The server does nothing else meanwhile: docs/redis.md has
  /// the measured times. It is more than 100, so that a few calls that are not full do not make it
  /// more than one call per 100 holds.
  static constexpr std::size_t most = 128;

  /// The answer to the next request. Answers beyond `most` are dropped.
  void add(Answer answer) noexcept;
  /// The answer to the request at `index` of the call. A reply that is too short is unclear about
  /// the others.
  [[nodiscard]] Answer of(std::size_t index) const noexcept;

 private:
  std::array<Answer, most> answers_{};
  std::size_t count_ = 0;
};

}  // namespace latchkey::inline v1::detail::redis
