// The judge of fencing tokens.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

class JudgeTokens : public ::testing::Test {
 protected:
  Visit& visit(int entered, std::uint64_t token) {
    Visit& visit = builder_.visit(0, entered, entered + 1);
    visit.type = LockType::FENCED;
    visit.token = token;
    return visit;
  }
  HistoryBuilder builder_;
};

TEST_F(JudgeTokens, RisingTokensAreRight) {
  visit(100, 1);
  visit(200, 5);
  visit(300, 6);
  EXPECT_EQ(builder_.broken(judge_tokens), "");
}

TEST_F(JudgeTokens, AFallingTokenIsAViolation) {
  visit(100, 5);
  visit(200, 4);
  EXPECT_EQ(builder_.broken(judge_tokens), "promise 4: a token does not rise");
}

TEST_F(JudgeTokens, CallsAtTheSameTimeMayGetTheirTokensInEitherOrder) {
  visit(100, 5);
  visit(101, 4).called = 90 * millisecond;
  EXPECT_EQ(builder_.broken(judge_tokens), "");
}

TEST_F(JudgeTokens, ATokenIsGivenOnce) {
  visit(100, 5);
  visit(101, 5).called = 90 * millisecond;
  EXPECT_EQ(builder_.broken(judge_tokens), "promise 4: a token was given twice");
}

TEST_F(JudgeTokens, TokensRiseBeyondThoseOfEarlierRounds) {
  builder_.history().last_tokens = {10, 0};
  visit(100, 10);
  EXPECT_EQ(builder_.broken(judge_tokens), "promise 4: a token does not rise");
}

TEST_F(JudgeTokens, TheFencedRegisterLosesNoUpdate) {
  visit(100, 5).fenced_write = 1;
  visit(200, 6).fenced_write = 1;
  EXPECT_EQ(builder_.broken(judge_tokens), "promise 4: an update of the fenced register is lost");
}

}  // namespace
}  // namespace latchkey::chaos
