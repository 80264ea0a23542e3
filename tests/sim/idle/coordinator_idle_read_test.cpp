// READs that nobody in the process has, kept until a writer of another process comes.
// SPDX-License-Identifier: BSL-1.0
#include <chrono>

#include <gtest/gtest.h>

#include "sim/idle/idle_fixture.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;
using Change = Notification::Kind;

class CoordinatorIdleRead : public IdleTest {
 protected:
  Caller& read(Lease lease = 30s) { return take(READ, lease); }
  void become_idle() { IdleTest::become_idle(READ); }
};

TEST_F(CoordinatorIdleRead, TheNextReadTakesItAndOthersJoinIt) {
  become_idle();
  Caller& next = read();
  Caller& other = read();
  EXPECT_EQ(next.answer, Answer::granted);
  EXPECT_EQ(other.answer, Answer::granted);
  EXPECT_EQ(script.release(next).answer, Answer::granted);
  script.pass(40ms);
  EXPECT_EQ(script.sent(), "");
  EXPECT_EQ(script.release(other).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "") << "the last reader leaves it to the process";
  EXPECT_EQ(script.events(),
            "attempt, granted, released, attempt, granted, attempt, granted, released, released");
  script.pass(100ms);
  end_release();
  EXPECT_EQ(script.events(), "");
}

TEST_F(CoordinatorIdleRead, ReadersThatShareAHoldKeepItOnce) {
  Caller& first = read();
  script.answer(Kind::granted);
  Caller& second = read();
  EXPECT_EQ(second.answer, Answer::granted);
  script.release(first);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  EXPECT_EQ(script.release(second).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "expire 1 900");
  script.answer(Kind::granted);
  EXPECT_EQ(read().answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
}

TEST_F(CoordinatorIdleRead, TheLastReaderSaysForHowLongItIsKept) {
  Caller& first = read();
  script.answer(Kind::granted);
  Caller& second = read(Lease(30s).cache(0ms));
  script.release(first);
  script.release(second);
  EXPECT_EQ(script.sent(), "acquire 1 30000, release 1");
  script.answer(Kind::granted);
}

TEST_F(CoordinatorIdleRead, AWriterOfAnotherProcessEndsIt) {
  become_idle();
  script.notify(Change::wanted);
  end_release();
  EXPECT_EQ(script.events(), "attempt, granted, released, recalled");
}

TEST_F(CoordinatorIdleRead, AWriterOfThisProcessEndsIt) {
  become_idle();
  script.acquire(WRITE, 1s, 30s, Owner::make());
  EXPECT_EQ(script.sent(), "release 1, acquire 2 30000");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
}

// Readers of other processes come and go, which changes the key.
TEST_F(CoordinatorIdleRead, AfterAChangeTheCallThatTakesItAsksWhetherItIsThere) {
  become_idle();
  script.notify(Change::changed);
  EXPECT_EQ(script.sent(), "");
  script.pass(20ms);
  Caller& next = read();
  EXPECT_EQ(next.answer, Answer::granted) << "it waits for no reply";
  EXPECT_EQ(script.sent(), "renew 1 900");
  EXPECT_EQ(script.release(next).answer, Answer::granted);
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "") << "the question was the one of the release, too";
  script.pass(80ms);
  end_release();
}

TEST_F(CoordinatorIdleRead, ALossIsToldToTheCallThatHasTakenIt) {
  become_idle();
  script.notify(Change::changed);
  Caller& next = read();
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(next));
}

TEST_F(CoordinatorIdleRead, AChangeWhileACallHasItIsAskedForByItsRelease) {
  become_idle();
  Caller& next = read();
  script.notify(Change::changed);
  EXPECT_EQ(script.sent(), "");
  script.release(next);
  EXPECT_EQ(script.sent(), "expire 1 900");
  script.answer(Kind::granted);
  EXPECT_EQ(read().answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
}

TEST_F(CoordinatorIdleRead, AChangeBeforeTheReplyLeavesItIdle) {
  Caller& held = read();
  script.answer(Kind::granted);
  script.release(held);
  static_cast<void>(script.sent());
  script.notify(Change::changed);
  script.answer(Kind::granted);
  EXPECT_EQ(script.sent(), "");
  EXPECT_EQ(read().answer, Answer::granted);
  EXPECT_EQ(script.sent(), "renew 1 900");
}

TEST_F(CoordinatorIdleRead, AChangeOfAllKeysEndsIt) {
  become_idle();
  script.notify_of_changed_keys();
  end_release();
}

TEST_F(CoordinatorIdleRead, WithoutAWayToAskItIsGivenBack) {
  become_idle();
  script.notify(Change::changed);
  script.notify(Change::link_down);
  EXPECT_EQ(script.sent(), "release 1");
  script.answer(Kind::granted);
}

TEST_F(CoordinatorIdleRead, ADowngradedWriteIsNotKept) {
  const Owner owner = Owner::make();
  Caller& write = script.acquire(WRITE, 1s, 30s, owner);
  script.answer(Kind::granted);
  Caller& inside = script.acquire(READ, 1s, 30s, owner);
  script.release(write);
  EXPECT_EQ(script.sent(), "acquire 1 30000, downgrade 1 30000");
  script.answer(Kind::granted);
  script.release(inside);
  end_release();
}

}  // namespace
}  // namespace latchkey::sim
