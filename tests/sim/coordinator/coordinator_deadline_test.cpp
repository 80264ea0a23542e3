// A deadline that a thread has seen pass has passed for every thread, for ever. The time of an
// event is read before it is handled, so a thread that asks lost() meanwhile reads a later one: the
// process is stopped in between, or the thread that handles the event is not scheduled.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

/// Whether another thread, which reads the clock `by` later than the event, sees a loss.
bool lost_later(const Script& script, const Caller& held, milliseconds by) {
  return held.hold->is_lost(script.now() + by);
}

TEST(CoordinatorDeadline, ARenewalDoesNotTakeBackALossThatAThreadHasSeen) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, watchdog);
  script.answer(Kind::granted);
  script.pass(29s);
  EXPECT_EQ(script.sent(), "acquire 1 30000, renew 1 30000");
  EXPECT_FALSE(script.lost(held));
  EXPECT_TRUE(lost_later(script, held, 1s));
  script.answer(Kind::granted);
  EXPECT_TRUE(lost_later(script, held, 1s));
  EXPECT_TRUE(script.lost(held));
  EXPECT_EQ(script.release(held).answer, Answer::lost);
  script.answer(Kind::granted);
}

TEST(CoordinatorDeadline, AnExtendFailsAfterALossThatAThreadHasSeen) {
  Script script;
  Caller& held = script.acquire(REENTRANT, 1s, 3s);
  script.answer(Kind::granted);
  Caller& extend = script.extend(held, 60s);
  EXPECT_TRUE(lost_later(script, held, 3s));
  script.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::lost);
  EXPECT_TRUE(script.lost(held));
}

TEST(CoordinatorDeadline, ADowngradeDoesNotTakeBackALossThatAThreadHasSeen) {
  Script script;
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 9s, owner);
  script.answer(Kind::granted);
  Caller& read = script.acquire(READ, 1s, 9s, owner);
  script.release(write);
  EXPECT_EQ(script.sent(), "acquire 1 9000, downgrade 1 9000");
  EXPECT_TRUE(lost_later(script, read, 9s));
  script.answer(Kind::granted);
  EXPECT_TRUE(script.lost(read));
  EXPECT_EQ(script.release(read).answer, Answer::lost);
  script.answer(Kind::granted);
}

TEST(CoordinatorDeadline, ARenewalDoesNotTakeBackWhatAJoinedReadHasSeen) {
  Script script(with_cohorts());
  Caller& first = script.acquire(READ, 1s, watchdog, Owner::make());
  script.answer(Kind::granted);
  Caller& second = script.acquire(READ, 1s, watchdog, Owner::make());
  ASSERT_EQ(second.answer, Answer::granted);
  script.pass(29s);
  EXPECT_EQ(script.sent(), "acquire 1 30000, renew 1 30000");
  EXPECT_TRUE(lost_later(script, second, 1s));
  script.answer(Kind::granted);
  EXPECT_TRUE(script.lost(second));
  EXPECT_FALSE(script.lost(first)) << "nobody has seen that one pass";
  EXPECT_EQ(script.release(second).answer, Answer::lost);
  EXPECT_EQ(script.release(first).answer, Answer::pending);
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

}  // namespace
}  // namespace latchkey::sim
