// Places in line that the backend gives to claims of any type, and who gives them up.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/in_line.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

/// Types and leases that do not ask for a place in the process queue. A backend whose locks are
/// queues gives them one nevertheless.
struct Unasked {
  LockType type;
  milliseconds lease;
};
constexpr Unasked unasked[] = {{READ, 30s}, {REENTRANT, 500ms}, {FENCED, 500ms}, {WRITE, 500ms}};

// It blocked all other processes until it ended.
TEST(CoordinatorPlace, ACallThatIsCancelledLeavesAPlaceThatItDidNotAskFor) {
  for (const Unasked& each : unasked) {
    SCOPED_TRACE(to_string(each.type));
    InLine script(each.type, each.lease);
    script.cancel(script.waiter());
    EXPECT_EQ(script.waiter().answer, Answer::cancelled);
    EXPECT_EQ(script.sent().substr(0, 7), "leave 1");
    script.answer(Verb::leave, Kind::granted);
  }
}

TEST(CoordinatorPlace, ACallWhoseWaitEndsLeavesAPlaceThatItDidNotAskFor) {
  for (const Unasked& each : unasked) {
    SCOPED_TRACE(to_string(each.type));
    InLine script(each.type, each.lease, 90ms);
    script.pass(90ms);
    EXPECT_EQ(script.waiter().answer, Answer::busy);
    EXPECT_EQ(script.sent().substr(0, 7), "leave 1");
    script.answer(Verb::leave, Kind::granted);
  }
}

TEST(CoordinatorPlace, ACallWhoseLastReplyIsBusyLeavesItsPlace) {
  Script script(with_grants());
  Caller& call = script.acquire(READ, 20ms, 30s, Owner::make());
  script.pass(30ms);
  script.answer(busy_at(7));
  EXPECT_EQ(call.answer, Answer::busy);
  EXPECT_EQ(script.sent(), "acquire 1 30000, leave 1");
}

TEST(CoordinatorPlace, ACallWithoutAPlaceLeavesNothing) {
  InLine script(READ);
  script.notify(Notification::Kind::released);
  script.answer(Script::busy(30s));
  (void)script.sent();
  script.cancel(script.waiter());
  EXPECT_EQ(script.sent(), "unsubscribe");
}

TEST(CoordinatorPlace, TheReleaseOfAPlaceIsRepeatedUntilItsLeaseHasEnded) {
  InLine script(READ, 1'500ms);
  script.cancel(script.waiter());
  (void)script.sent();
  script.answer(Verb::leave, Kind::unknown);
  while (script.open() > 0) script.answer(Kind::granted);
  script.pass(1s);
  EXPECT_EQ(script.sent(), "leave 1");
  script.answer(Kind::unknown);
  script.pass(2s);
  EXPECT_EQ(script.sent(), "leave 1");
  script.answer(Kind::unknown);
  EXPECT_TRUE(script.idle());
}

// A copy of the acquire that runs after the release may take a place.
TEST(CoordinatorPlace, APlaceThatAReplyToldAfterTheReleaseIsReleasedOnceMore) {
  Script script(unordered());
  Caller& call = script.acquire(READ, 1s, 30s, Owner::make());
  script.cancel(call);
  script.answer(Verb::release, Kind::gone);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Verb::acquire, busy_at(7));
  EXPECT_EQ(script.sent(), "leave 1");
  script.answer(Kind::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorPlace, AWaiterWithAPlaceAsksAgainAfterAQuarterOfItsLease) {
  for (const LockType type : {READ, REENTRANT, FENCED, WRITE}) {
    SCOPED_TRACE(to_string(type));
    InLine script(type, 400ms);
    script.pass(120ms);
    EXPECT_EQ(script.sent(), "acquire 1 400");
  }
  InLine longer(READ, 30s);
  longer.pass(1'200ms);
  EXPECT_EQ(longer.sent(), "acquire 1 30000");
}

}  // namespace
}  // namespace latchkey::sim
