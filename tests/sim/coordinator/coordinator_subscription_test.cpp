// How subscriptions end, also if an unsubscribe was never sent, for example for lack of memory.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "sim/script.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

Outcome never_sent() {
  Outcome outcome = Script::of(Kind::unknown);
  outcome.never_ran = true;
  return outcome;
}

// The server kept the subscription for as long as the process ran.
TEST(CoordinatorRegression, AnUnsubscribeThatWasNeverSentIsSentAgain) {
  for (const LockType type : {REENTRANT, FAIR}) {
    Script script;
    Caller& call = script.acquire(type, forever, 30s);
    script.answer(Script::busy(20s));
    script.answer(Kind::granted);  // the reply to the subscribe
    script.answer(Kind::granted);
    ASSERT_EQ(call.answer, Answer::granted);
    (void)script.sent();
    script.answer(Verb::unsubscribe, never_sent());
    script.release(call);
    script.answer(Verb::release, Kind::granted);
    (void)script.sent();
    script.pass(2s);
    script.answer(Verb::unsubscribe, never_sent());
    (void)script.sent();
    script.pass(2s);
    const std::string sent = script.sent();
    EXPECT_TRUE(sent.ends_with("unsubscribe") || sent.ends_with("unsubscribe 1")) << sent;
    while (script.open() > 0) script.answer(Kind::granted);
    EXPECT_TRUE(script.idle());
  }
}

TEST(CoordinatorRegression, AWaiterSubscribesAfterAnUnsubscribeThatWasNeverSent) {
  Script script;
  Caller& held = script.acquire(REENTRANT, forever, 30s);
  script.answer(Script::busy(20s));
  script.answer(Kind::granted);  // the reply to the subscribe
  script.answer(Kind::granted);
  script.answer(Verb::unsubscribe, never_sent());
  script.release(held);
  script.answer(Verb::release, Kind::granted);
  (void)script.sent();
  script.acquire(REENTRANT, forever, 30s, Owner::make());
  script.answer(Script::busy(20s));
  EXPECT_EQ(script.sent(), "acquire 2 30000, subscribe");
  script.answer(Kind::granted);
  script.answer(Script::busy(20s));
  script.pass(2s);
  EXPECT_EQ(script.sent().find("unsubscribe"), std::string::npos);
  script.answer(Kind::granted);
}

// Found by the campaign, seed 697315783: the subscription of a waiter stayed for as long as its
// release was repeated, up to 45 s.
TEST(CoordinatorRegression, AWaiterThatGaveUpUnsubscribesAtTheFirstReplyToItsRelease) {
  Script script(unordered());
  Caller& call = script.acquire(FAIR, 5s, 30s);
  script.answer(Script::busy(10s));
  script.answer(Kind::granted);  // the reply to the subscribe
  script.answer(Kind::unknown);  // the second attempt, which may run later
  script.cancel(call);
  (void)script.sent();
  script.answer(Verb::leave, Kind::gone);
  EXPECT_EQ(script.sent(), "unsubscribe 1");
  script.answer(Kind::granted);
  script.pass(1s);
  EXPECT_EQ(script.sent(), "leave 1");
  script.answer(Kind::gone);
  EXPECT_FALSE(script.idle()) << "the release is repeated";
  EXPECT_EQ(script.sent(), "");
  script.pass(60s);
  script.answer(Kind::gone);
  EXPECT_TRUE(script.idle());
}

}  // namespace
}  // namespace latchkey::sim
