// READs of one process that share one hold at the backend: its lease, its loss.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/readers.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

TEST(CoordinatorJoinLease, AllAreLostWhenTheBackendNoLongerHasTheHold) {
  Readers script;
  Caller& second = script.join();
  Caller& third = script.join();
  script.release(script.first());
  script.notify(Notification::Kind::gone, 1);
  EXPECT_TRUE(script.lost(second));
  EXPECT_TRUE(script.lost(third));
  EXPECT_EQ(script.release(second).answer, Answer::lost);
  EXPECT_EQ(script.release(third).answer, Answer::lost);
  EXPECT_EQ(script.sent(), "");
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorJoinLease, AReaderThatHasReleasedIsNotReportedAsLost) {
  CoordinatorSettings settings = with_cohorts();
  settings.events = CoordinatorSettings::Events::everything;
  Readers script(30s, settings);
  Caller& second = script.join();
  (void)script.events();
  script.release(script.first());
  EXPECT_EQ(script.events(), "released");
  script.notify(Notification::Kind::gone, 1);
  EXPECT_EQ(script.events(), "lost");
  EXPECT_EQ(script.release(second).answer, Answer::lost);
  EXPECT_EQ(script.events(), "");
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorJoinLease, AllAreLostWhenTheLeaseEnds) {
  Readers script(1s);
  Caller& second = script.join(1s);
  script.pass(333ms);
  script.answer(Kind::granted);  // verified
  script.pass(333ms);
  script.answer(Kind::granted);
  script.pass(324ms);
  EXPECT_TRUE(script.lost(script.first()));
  EXPECT_TRUE(script.lost(second));
  (void)script.sent();
  EXPECT_EQ(script.release(script.first()).answer, Answer::lost);
  EXPECT_EQ(script.release(second).answer, Answer::lost);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorJoinLease, TheLeaseIsTheLongestThatOneOfThemAskedFor) {
  Readers script(10s);
  Caller& second = script.join(30s);
  EXPECT_EQ(script.left(second), 9'900ms);
  script.pass(50ms);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(second), 29'700ms);
  EXPECT_EQ(script.left(script.first()), 29'700ms);
  script.release(script.first());
  script.release(second);
  script.expect_given_back();
}

TEST(CoordinatorJoinLease, TheWatchdogRenewsAsLongAsOneOfThemIsRenewedByIt) {
  Readers script(30s);
  Caller& second = script.join(watchdog);
  script.release(script.first());
  script.pass(10s);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  EXPECT_EQ(script.left(second), 29'700ms);
  script.release(second);
  script.expect_given_back();
}

TEST(CoordinatorJoinLease, WithoutAWatchdogTheHoldIsVerified) {
  Readers script(30s);
  Caller& second = script.join(watchdog);
  script.release(second);
  script.pass(10s);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::granted);
  script.release(script.first());
  script.expect_given_back();
}

TEST(CoordinatorJoinLease, AnExtendOfOneMovesTheDeadlineOfAll) {
  Readers script;
  Caller& second = script.join();
  Caller& extend = script.extend(second, 60s);
  EXPECT_EQ(script.sent(), "renew 1 60000");
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
  EXPECT_EQ(script.left(second), 59'400ms);
  EXPECT_EQ(script.left(script.first()), 59'400ms);
  script.release(script.first());
  script.release(second);
  script.expect_given_back();
}

TEST(CoordinatorJoinLease, AnExtendOfAReaderThatReleasesIsAnsweredAsLost) {
  Readers script;
  Caller& second = script.join();
  Caller& extend = script.extend(second, 60s);
  script.release(second);
  EXPECT_EQ(extend.answer, Answer::lost);
  script.answer(Kind::granted);
  (void)script.sent();
  script.release(script.first());
  script.expect_given_back();
}

}  // namespace
}  // namespace latchkey::sim
