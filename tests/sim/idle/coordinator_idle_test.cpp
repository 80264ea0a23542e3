// Holds that nobody in the process has, kept until another process wants them.
// tidy: long-file because each way in which an idle hold ends is one schedule
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "sim/idle/idle_fixture.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;
using Change = Notification::Kind;

class CoordinatorIdle : public IdleTest {};

TEST_F(CoordinatorIdle, TheNextCallOfAnyOwnerTakesIt) {
  become_idle();
  Caller& next = take();
  EXPECT_EQ(next.answer, Answer::granted);
  EXPECT_EQ(script.left(next), 891ms) << "as long as the backend keeps it, less the margin";
  EXPECT_EQ(script.release(next).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
  EXPECT_EQ(script.events(), "attempt, granted, released, attempt, granted, released");
  script.pass(100ms);
  end_release();
  EXPECT_EQ(script.events(), "");
}

TEST_F(CoordinatorIdle, ACallTakesItBeforeTheExpireIsAnswered) {
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  script.release(held);
  for (int round = 0; round < 3; ++round) {
    Caller& next = take();
    ASSERT_EQ(next.answer, Answer::granted);
    EXPECT_EQ(script.release(next).answer, Answer::granted);
  }
  EXPECT_EQ(script.sent(), "acquire 1 30000, expire 1 900");
  script.answer(Kind::granted);
  script.pass(100ms);
  end_release();
}

TEST_F(CoordinatorIdle, ItIsKeptForItsTimeHoweverOftenItIsTaken) {
  become_idle();
  script.pass(60ms);
  Caller& second = take();
  script.release(second);
  script.pass(39ms);
  EXPECT_EQ(script.sent(), "");
  Caller& third = take();
  script.pass(1ms);
  script.release(third);
  end_release();
}

TEST_F(CoordinatorIdle, EachCallMaySayForHowLongItIsKept) {
  Script plain(with_events(with_grants()));
  Caller& keeps = plain.acquire(REENTRANT, 1s, Lease(30s).cache(200ms));
  plain.answer(Kind::granted);
  plain.release(keeps);
  EXPECT_EQ(plain.sent(), "acquire 1 30000, expire 1 900");
  plain.answer(Kind::granted);
  plain.pass(199ms);
  Caller& next = plain.acquire(REENTRANT, 1s, Lease(30s).cache(0ms), Owner::make());
  EXPECT_EQ(next.answer, Answer::granted);
  plain.release(next);
  EXPECT_EQ(plain.sent(), "release 1") << "the call that had it last wants none";
  plain.answer(Kind::granted);

  Caller& none = script.acquire(REENTRANT, 1s, Lease(30s).cache(0ms));
  script.answer(Kind::granted);
  script.release(none);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Kind::granted);
}

TEST_F(CoordinatorIdle, WithoutTheOptionEachReleaseIsSent) {
  Script plain(with_grants());
  Caller& held = plain.acquire(REENTRANT, 1s, 30s);
  plain.answer(Kind::granted);
  plain.release(held);
  EXPECT_EQ(plain.sent(), "acquire 1 30000, release 1");
  plain.answer(Kind::granted);
  EXPECT_TRUE(plain.idle());
}

TEST_F(CoordinatorIdle, ARecallEndsIt) {
  become_idle();
  script.notify(Change::wanted);
  end_release();
  EXPECT_EQ(script.events(), "attempt, granted, released, recalled");
  Caller& next = take();
  EXPECT_EQ(script.sent(), "acquire 2 30000");
  script.answer(Kind::granted);
  script.release(next);
  end_release("release 2");
  script.pass(2s);
  EXPECT_TRUE(script.idle());
}

TEST_F(CoordinatorIdle, ItIsKeptAgainASecondAfterARecall) {
  become_idle();
  script.notify(Change::wanted);
  end_release();
  script.pass(1s);
  Caller& next = take();
  script.answer(Kind::granted);
  script.release(next);
  EXPECT_EQ(script.sent(), "acquire 2 30000, expire 2 900");
  script.answer(Kind::granted);
}

TEST_F(CoordinatorIdle, EachRecallSoonAfterAnotherDoublesTheTimeWithoutOne) {
  int number = 0;
  std::string id;
  const auto is_kept = [&] {
    id = std::to_string(++number);
    Caller& held = script.acquire(REENTRANT, 1s, 30s);
    EXPECT_EQ(script.sent(), "acquire " + id + " 30000");
    script.answer(Kind::granted);
    script.release(held);
    const std::string sent = script.sent();
    script.answer(Kind::granted);
    return sent == "expire " + id + " 900";
  };
  const auto recall = [&] {
    script.notify(Change::wanted);
    end_release("release " + id);
  };
  for (const std::chrono::seconds pause : {1s, 2s, 4s, 8s, 16s, 16s}) {
    SCOPED_TRACE(pause.count());
    EXPECT_TRUE(is_kept());
    recall();
    EXPECT_FALSE(is_kept());
    script.pass(pause - 1ms);
    EXPECT_FALSE(is_kept());
    script.pass(1ms);
  }
  script.pass(16s);
  EXPECT_TRUE(is_kept()) << "after as long again the recalls are forgotten";
  recall();
  script.pass(1s);
  EXPECT_TRUE(is_kept());
  recall();
}

TEST_F(CoordinatorIdle, ARecallWhileACallHasItEndsItWithThatCall) {
  become_idle();
  Caller& next = take();
  script.notify(Change::wanted);
  EXPECT_EQ(script.sent(), "");
  script.release(next);
  end_release();
}

TEST_F(CoordinatorIdle, AReplyThatNamesAWaiterEndsIt) {
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  script.release(held);
  static_cast<void>(script.sent());
  Outcome wanted = Script::of(Kind::granted);
  wanted.wanted = true;
  script.answer(wanted);
  end_release();
  EXPECT_EQ(script.events(), "attempt, granted, released, recalled");
}

TEST_F(CoordinatorIdle, AnExpireWithoutAReplyEndsIt) {
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  script.release(held);
  static_cast<void>(script.sent());
  script.answer(Kind::unknown);
  end_release();
}

TEST_F(CoordinatorIdle, ALossOfItIsSilent) {
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  script.release(held);
  static_cast<void>(script.events());
  script.answer(Kind::gone);
  EXPECT_EQ(script.events(), "");
  script.pass(1s);
  EXPECT_TRUE(script.idle());
}

TEST_F(CoordinatorIdle, ALossIsToldToTheCallThatHasTakenIt) {
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  script.release(held);
  Caller& next = take();
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(next));
}

TEST_F(CoordinatorIdle, AChangeOfTheKeyEndsIt) {
  become_idle();
  script.notify(Change::changed);
  end_release();
}

TEST_F(CoordinatorIdle, AChangeWhileACallHasItIsChecked) {
  become_idle();
  Caller& next = take();
  script.notify(Change::changed);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(next));
}

TEST_F(CoordinatorIdle, ALostConnectionEndsIt) {
  become_idle();
  script.notify(Change::link_down);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
}

TEST_F(CoordinatorIdle, AfterALostConnectionTheBackendIsAskedAgain) {
  become_idle();
  Caller& next = take();
  script.notify(Change::link_down);
  script.notify(Change::link_up);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  script.release(next);
  EXPECT_EQ(script.sent(), "expire 1 900");
  script.answer(Kind::granted);
}

TEST_F(CoordinatorIdle, AnotherTypeGivesItBackFirst) {
  become_idle();
  take(READ);
  EXPECT_EQ(script.sent(), "release 1, acquire 2 30000");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
}

TEST_F(CoordinatorIdle, EachCallOfFencedHasATokenOfItsOwn) {
  become_idle(FENCED, 1'256);
  for (std::uint64_t token = 1'002; token <= 1'256; ++token) {
    Caller& next = take(FENCED);
    ASSERT_EQ(next.answer, Answer::granted) << token;
    ASSERT_EQ(next.hold->token, token);
    script.release(next);
  }
  end_release();
}

TEST_F(CoordinatorIdle, FairIsNotKept) {
  Caller& held = script.acquire(FAIR, 1s, 30s);
  script.answer(Kind::granted);
  static_cast<void>(script.sent());
  script.release(held);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Verb::release, Kind::granted);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST_F(CoordinatorIdle, ABusyReplyMeansThatOthersTakePart) {
  Caller& waits = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Script::busy(1s));
  while (script.open() > 0) script.answer(Kind::granted);
  ASSERT_EQ(waits.answer, Answer::granted);
  static_cast<void>(script.sent());
  script.release(waits);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST_F(CoordinatorIdle, CloseReleasesIt) {
  become_idle();
  script.close();
  EXPECT_TRUE(script.unfinished());
  end_release();
  EXPECT_FALSE(script.unfinished());
}

TEST_F(CoordinatorIdle, AWaitingCallTakesOverAsUsual) {
  Caller& held = script.acquire(REENTRANT, 1s, 30s);
  script.answer(Kind::granted);
  Caller& waits = take();
  script.release(held);
  EXPECT_EQ(waits.answer, Answer::granted);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.release(waits);
  EXPECT_EQ(script.sent(), "expire 1 900");
  script.answer(Kind::granted);
}

}  // namespace
}  // namespace latchkey::sim
