// A backend in the same process, which answers within the call.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

CoordinatorSettings reporting() {
  CoordinatorSettings settings;
  settings.events = CoordinatorSettings::Events::everything;
  return settings;
}

TEST(CoordinatorImmediate, AnUncontendedCallIsAnsweredWithinItsEvents) {
  for (const LockType type : {REENTRANT, FAIR, READ, WRITE, FENCED}) {
    Script script(reporting());
    script.answer_at_once({});
    Caller& call = script.acquire(type, 3s, 30s);
    EXPECT_EQ(call.answer, Answer::granted);
    EXPECT_EQ(script.left(call), 30s - 300ms);
    EXPECT_EQ(script.answered(), "acquire 1 30000");
    EXPECT_EQ(script.release(call).answer, Answer::granted);
    EXPECT_EQ(script.answered(), "release 1");
    EXPECT_EQ(script.sent(), "");
    EXPECT_EQ(script.events(), "attempt, granted, released");
    EXPECT_TRUE(script.idle());
  }
}

TEST(CoordinatorImmediate, ABusyKeyPutsTheCallIntoTheQueue) {
  Script script(reporting());
  script.answer_at_once({Kind::busy, Kind::granted, Kind::busy});
  Caller& call = script.acquire(REENTRANT, 3s, 30s);
  EXPECT_EQ(call.answer, Answer::pending);
  EXPECT_EQ(script.answered(), "acquire 1 30000, subscribe, acquire 1 30000");
  EXPECT_EQ(script.events(), "attempt, waiting");
  script.notify(Notification::Kind::released);
  EXPECT_EQ(call.answer, Answer::granted);
  EXPECT_EQ(script.answered(), "acquire 1 30000, unsubscribe");
  EXPECT_EQ(script.release(call).answer, Answer::granted);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorImmediate, AnUnansweredAttemptIsRepeated) {
  Script script;
  script.answer_at_once({Kind::unknown});
  Caller& call = script.acquire(REENTRANT, 3s, 30s);
  EXPECT_EQ(call.answer, Answer::pending);
  script.pass(100ms);
  EXPECT_EQ(call.answer, Answer::granted);
  EXPECT_EQ(script.answered(), "acquire 1 30000, acquire 1 30000");
  script.release(call);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorImmediate, AWaitingCallGetsTheKeyWithTheRelease) {
  Script script;
  script.answer_at_once({});
  const Owner first = Owner::make(), second = Owner::make();
  Caller& holder = script.acquire(REENTRANT, 3s, 30s, first);
  Caller& waiter = script.acquire(REENTRANT, 3s, 30s, second);
  EXPECT_EQ(waiter.answer, Answer::pending);
  EXPECT_EQ(script.answered(), "acquire 1 30000");
  EXPECT_EQ(script.release(holder).answer, Answer::granted);
  EXPECT_EQ(waiter.answer, Answer::granted);
  script.release(waiter);
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorImmediate, AHoldThatTheBackendLostIsReportedAtItsRelease) {
  Script script(reporting());
  script.answer_at_once({Kind::granted, Kind::gone});
  Caller& call = script.acquire(REENTRANT, 3s, 30s);
  EXPECT_EQ(script.release(call).answer, Answer::lost);
  EXPECT_EQ(script.events(), "attempt, granted, lost");
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorImmediate, AnUnconfirmedReleaseIsRepeated) {
  Script script(reporting());
  script.answer_at_once({Kind::granted, Kind::unknown});
  Caller& call = script.acquire(REENTRANT, 3s, 30s);
  EXPECT_EQ(script.release(call).answer, Answer::unavailable);
  EXPECT_EQ(script.events(), "attempt, granted, release_unconfirmed");
  (void)script.answered();
  script.pass(1s);
  EXPECT_EQ(script.answered(), "release 1");
  EXPECT_TRUE(script.idle());
}

TEST(CoordinatorImmediate, AReleaseAfterTheDeadlineSaysThatTheHoldWasLost) {
  Script script;
  script.answer_at_once({});
  Caller& call = script.acquire(REENTRANT, 3s, 1s);
  script.pass(2s);
  (void)script.answered();
  EXPECT_EQ(script.release(call).answer, Answer::lost);
  EXPECT_EQ(script.answered(), "release 1");
  EXPECT_TRUE(script.idle());
}

}  // namespace
}  // namespace latchkey::sim
