// When a batch of requests is sent.
#include "stores/driver/batch_pacing.hpp"

#include <gtest/gtest.h>

namespace latchkey::detail::stores {
namespace {

using namespace std::chrono_literals;
using TimePoint = Clock::time_point;

constexpr TimePoint begin{1h};

TEST(BatchPacing, TheFirstRequestIsSentAtOnce) {
  const BatchPacing pacing;
  EXPECT_FALSE(pacing.is_ready(0, begin));
  EXPECT_TRUE(pacing.is_ready(1, begin));
}

TEST(BatchPacing, ACallerThatIsAloneDoesNotWait) {
  BatchPacing pacing;
  pacing.ended(1, 0, begin, begin + 2ms, true);
  EXPECT_TRUE(pacing.is_ready(1, begin + 2ms));
}

TEST(BatchPacing, TheNextBatchWaitsForTheCallersOfTheLastOne) {
  BatchPacing pacing;
  pacing.ended(3, 1, begin, begin + 2ms, true);
  EXPECT_FALSE(pacing.is_ready(3, begin + 2ms));
  EXPECT_TRUE(pacing.is_ready(4, begin + 2ms));
}

TEST(BatchPacing, TheNextBatchWaitsForHalfOfACommitAtMost) {
  BatchPacing pacing;
  pacing.ended(8, 0, begin, begin + 2ms, true);
  EXPECT_EQ(pacing.due(), begin + 3ms);
  EXPECT_FALSE(pacing.is_ready(1, begin + 2999us));
  EXPECT_TRUE(pacing.is_ready(1, begin + 3ms));
  pacing.ended(8, 0, begin, begin + 1h, true);
  EXPECT_EQ(pacing.due(), begin + 1h + 1ms);
}

TEST(BatchPacing, ABatchThatDidNotWaitForTheDiskDoesNotChangeTheDelay) {
  BatchPacing pacing;
  pacing.ended(8, 0, begin, begin + 1ms, true);
  pacing.ended(8, 0, begin + 1ms, begin + 1100us, false);
  EXPECT_EQ(pacing.due(), begin + 1600us);
}

}  // namespace
}  // namespace latchkey::detail::stores
