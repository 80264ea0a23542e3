// Permits of a semaphore whose backend keeps the processes that wait in a queue.
#include <chrono>

#include <gtest/gtest.h>

#include "permits.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using Caller = Script::Caller;

/// Busy, with a place in the backend's queue of processes.
Outcome in_line() {
  Outcome outcome = Script::busy(20s);
  outcome.place = 1;
  return outcome;
}

TEST(CoordinatorPermitQueue, ACallWithAPlaceAsksAgainBeforeThatEnds) {
  Permits script(with_grants());
  script.take();
  script.answer(in_line());
  script.answer(Verb::subscribe, Kind::granted);
  script.answer(Verb::acquire, in_line());
  (void)script.sent();
  script.pass(1'200ms);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(granted(0));
}

TEST(CoordinatorPermitQueue, ACallThatGivesUpLeavesTheQueue) {
  Permits script(with_grants());
  Caller& call = script.take();
  script.answer(in_line());
  script.answer(Verb::subscribe, Kind::granted);
  script.answer(Verb::acquire, in_line());
  (void)script.sent();
  script.cancel(call);
  EXPECT_EQ(script.sent(), "release 1, unsubscribe");
  while (script.open() > 0) script.answer(Kind::granted);
}

// A place that a late copy of an attempt takes would block other processes.
TEST(CoordinatorPermitQueue, APlaceThatIsTakenAfterTheReleaseIsLeftOnceMore) {
  Permits script(unordered());
  Caller& call = script.take();
  script.cancel(call);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Verb::release, Kind::gone);
  script.answer(Verb::acquire, in_line());
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Verb::release, Kind::gone);
}

// A single attempt does not wait, so the claim that it leaves has to ask.
TEST(CoordinatorPermitQueue, ACallBehindASingleAttemptAsksWhenThatWasInVain) {
  Permits script;
  script.hold(0);
  script.pass(1'000ms);
  Caller& once = script.acquire(LockType::PERMIT, 0ms, 30s, Owner::make());
  Caller& next = script.take();
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Script::busy(20s));
  EXPECT_EQ(once.answer, Answer::busy);
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(granted(0));
  EXPECT_EQ(next.answer, Answer::granted);
}

// The single attempt that is passed on has taken no place.
TEST(CoordinatorPermitQueue, ACallThatGetsASingleAttemptInFlightAsksForAPlace) {
  Permits script(with_cohorts());
  Caller& holder = script.hold(1);
  script.pass(1ms);
  Caller& once = script.acquire(LockType::PERMIT, 0ms, 30s, Owner::make());
  script.take();
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.release(holder);
  EXPECT_EQ(once.answer, Answer::granted);
  script.answer(Script::busy(20s));
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(granted(0));
}

TEST(CoordinatorPermitQueue, TheCallBehindOneThatHadNoReplyAsksAsSoonAsThatIsServed) {
  Permits script(with_cohorts());
  Caller& holder = script.hold(1);
  Caller& first = script.take();
  Caller& second = script.take();
  script.answer(Verb::acquire, Kind::unknown);
  (void)script.sent();
  script.release(holder);
  EXPECT_EQ(first.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "release 2, acquire 3 30000");
  while (script.open() > 0) script.answer(granted(0));
  EXPECT_EQ(second.answer, Answer::granted);
}

// It has not waited for a reply for as long as the call before it.
TEST(CoordinatorPermitQueue, WhoGetsAClaimWaitsForItsOwnTimeForAReply) {
  Permits script;
  script.hold(0);
  script.pass(1'000ms);
  Outcome never_ran = Script::of(Kind::unknown);
  never_ran.never_ran = true;
  never_ran.reason = "connection refused";
  Caller& first = script.acquire(LockType::PERMIT, 3s, 30s, Owner::make());
  script.answer(never_ran);
  script.pass(2'990ms);
  while (script.open() > 0) script.answer(never_ran);
  Caller& second = script.acquire(LockType::PERMIT, forever, 30s, Owner::make());
  script.pass(20ms);
  EXPECT_EQ(first.answer, Answer::unavailable);
  EXPECT_EQ(second.answer, Answer::pending);
  EXPECT_EQ(second.reason.view(), "connection refused");
  script.cancel(second);
  while (script.open() > 0) script.answer(never_ran);
}

}  // namespace
}  // namespace latchkey::sim
