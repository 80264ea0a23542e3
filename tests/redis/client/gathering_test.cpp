// Sending a moment later for the sake of others, and not where they do not come.
#include "redis/gathering.hpp"

#include <gtest/gtest.h>

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

class GatheringTest : public ::testing::Test {
 protected:
  Gathering gathering;
  Clock::time_point now{1'000s};
};

TEST_F(GatheringTest, NobodyWaitsForNobody) {
  EXPECT_FALSE(gathering.begin(now));
  gathering.woken(1, now);
  gathering.came_back();
  EXPECT_FALSE(gathering.begin(now)) << "all are back";
  gathering.came_back();
  gathering.woken(1, now);
  EXPECT_TRUE(gathering.begin(now)) << "who was never woken does not count";
}

TEST_F(GatheringTest, OneGathersForAll) {
  gathering.woken(3, now);
  gathering.came_back();
  ASSERT_TRUE(gathering.begin(now));
  EXPECT_TRUE(gathering.going_on());
  gathering.came_back();
  EXPECT_FALSE(gathering.begin(now)) << "somebody does already";
  gathering.end(true);
  EXPECT_FALSE(gathering.going_on());
  EXPECT_TRUE(gathering.begin(now)) << "one is away still";
}

TEST_F(GatheringTest, WhoComesLateWaitsForNobody) {
  gathering.woken(3, now);
  now += Gathering::straight + 1us;
  EXPECT_FALSE(gathering.begin(now));
  now -= 1us;
  EXPECT_FALSE(gathering.begin(now)) << "that bunch is forgotten";
}

TEST_F(GatheringTest, IsTriedLessAndLessOftenWhereItBringsNothing) {
  int tried = 0;
  for (int times = 0; times < 100'000; ++times) {
    gathering.woken(1, now);
    if (!gathering.begin(now)) continue;
    ++tried;
    gathering.end(false);
  }
  EXPECT_GT(tried, 50);
  EXPECT_LT(tried, 150);
  gathering.woken(1, now);
  while (!gathering.begin(now)) {
  }
  gathering.end(true);
  gathering.woken(1, now);
  EXPECT_TRUE(gathering.begin(now)) << "and always where it does";
}

}  // namespace
}  // namespace latchkey::detail::redis
