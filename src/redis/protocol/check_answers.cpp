// The answers of one call of lua/check_batch.lua, one for each of its holds.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/check_answers.hpp"

namespace latchkey::inline v1::detail::redis {

void CheckAnswers::add(Answer answer) noexcept {
  if (count_ < most) answers_[count_++] = answer;
}

CheckAnswers::Answer CheckAnswers::of(std::size_t index) const noexcept {
  return index < count_ ? answers_[index] : Answer::unclear;
}

}  // namespace latchkey::inline v1::detail::redis
