// Backoff, jitter and what is known about an outage.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "backend/connection/reconnect_policy.hpp"

namespace latchkey::detail {
namespace {

using namespace std::chrono_literals;

class ReconnectPolicyTest : public ::testing::Test {
 protected:
  /// Fails one attempt, advances the clock to the next one and returns the pause between them.
  Clock::duration pause_after_failure(bool wanted) {
    policy.failed(ConnectionFailure{false, "lost"}, now, wanted);
    const Clock::duration pause = policy.next_attempt_at() - now;
    now = policy.next_attempt_at();
    return pause;
  }

  ReconnectPolicy policy{7};
  Clock::time_point now{1'000s};
};

TEST_F(ReconnectPolicyTest, TheFirstAttemptIsMadeAtOnce) {
  EXPECT_LE(policy.next_attempt_at(), now);
  EXPECT_EQ(policy.last_failure(), nullptr);
}

TEST_F(ReconnectPolicyTest, PausesOfAWantedConnectionStayBelowAQuarterOfASecond) {
  Clock::duration longest{};
  for (int attempt = 0; attempt < 20; ++attempt) {
    longest = std::max(longest, pause_after_failure(true));
  }
  EXPECT_LE(longest, 240ms);
  EXPECT_GE(longest, 80ms);
}

TEST_F(ReconnectPolicyTest, PausesOfAnUnwantedConnectionGrowToASecond) {
  EXPECT_LE(pause_after_failure(false), 15ms);
  Clock::duration longest{};
  for (int attempt = 0; attempt < 20; ++attempt) {
    longest = std::max(longest, pause_after_failure(false));
  }
  EXPECT_LE(longest, 1500ms);
  EXPECT_GE(longest, 500ms);
}

TEST_F(ReconnectPolicyTest, PausesVary) {
  for (int attempt = 0; attempt < 10; ++attempt) pause_after_failure(true);
  std::set<Clock::duration> pauses;
  for (int attempt = 0; attempt < 10; ++attempt) pauses.insert(pause_after_failure(true));
  EXPECT_GT(pauses.size(), 1U);
}

TEST_F(ReconnectPolicyTest, ACallerShortensThePauseOfAnIdleConnection) {
  for (int attempt = 0; attempt < 10; ++attempt) pause_after_failure(false);
  policy.failed(ConnectionFailure{false, "lost"}, now, false);
  ASSERT_GT(policy.next_attempt_at(), now + 240ms);
  policy.want(now);
  policy.hasten();
  EXPECT_LE(policy.next_attempt_at(), now + 240ms);
}

TEST_F(ReconnectPolicyTest, ARecentCallerKeepsPausesShort) {
  for (int attempt = 0; attempt < 10; ++attempt) pause_after_failure(false);
  policy.want(now);
  EXPECT_LE(pause_after_failure(false), 240ms);
}

TEST_F(ReconnectPolicyTest, AConnectionThatLastedASecondStartsTheBackoffAnew) {
  for (int attempt = 0; attempt < 10; ++attempt) pause_after_failure(false);
  policy.connected(now);
  now += 1s;
  EXPECT_LE(pause_after_failure(false), 15ms);
}

TEST_F(ReconnectPolicyTest, AConnectionThatLastedShorterCountsAsAFailedAttempt) {
  for (int attempt = 0; attempt < 10; ++attempt) pause_after_failure(false);
  policy.connected(now);
  now += 999ms;
  EXPECT_GE(pause_after_failure(false), 500ms);
}

TEST_F(ReconnectPolicyTest, RequestsGiveUp250MillisecondsAfterTheServerIsKnownToBeDown) {
  EXPECT_EQ(policy.gives_up_at(now), Clock::never());
  policy.failed(ConnectionFailure{false, "lost"}, now, true);
  EXPECT_EQ(policy.gives_up_at(now - 5s), now + 250ms) << "submitted before the outage";
  EXPECT_EQ(policy.gives_up_at(now + 1s), now + 1250ms) << "submitted during the outage";
  policy.failed(ConnectionFailure{false, "still lost"}, now + 100ms, true);
  EXPECT_EQ(policy.gives_up_at(now - 5s), now + 250ms) << "the outage began with the first failure";
}

TEST_F(ReconnectPolicyTest, AConnectionEndsTheOutage) {
  policy.failed(ConnectionFailure{true, "wrong password"}, now, true);
  ASSERT_NE(policy.last_failure(), nullptr);
  EXPECT_TRUE(policy.repeats(ConnectionFailure{true, "wrong password"}));
  EXPECT_FALSE(policy.repeats(ConnectionFailure{true, "not RESP3"}));
  policy.connected(now);
  EXPECT_EQ(policy.last_failure(), nullptr);
  EXPECT_FALSE(policy.repeats(ConnectionFailure{true, "wrong password"}));
}

}  // namespace
}  // namespace latchkey::detail
