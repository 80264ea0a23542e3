// Claims near the front of the line listen to the key, too: a client of another library frees it
// without a word to the line.
#include <chrono>

#include <gtest/gtest.h>

#include "sim/in_line.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using enum LockType;
using Caller = Script::Caller;

/// The waiter of InLine has learned that it is near the front, and listens.
class NearFront : public InLine {
 public:
  explicit NearFront(LockType type = REENTRANT) : InLine(type) {
    notify(Notification::Kind::link_up);  // it asks again
    answer(Verb::acquire, busy_near_front(7));
    pass(20ms);
    answer(Verb::acquire, busy_near_front(7));
    answer(Verb::subscribe, Kind::granted);
    answer(Verb::acquire, busy_near_front(7));
    (void)sent();
  }
};

TEST(CoordinatorFront, AClaimListensToTheKeyAfterTwentyMilliseconds) {
  InLine script;
  script.notify(Notification::Kind::link_up);
  script.answer(Verb::acquire, busy_near_front(7));
  (void)script.sent();
  script.pass(19ms);
  EXPECT_EQ(script.sent(), "");
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(Verb::acquire, busy_near_front(7));
  EXPECT_EQ(script.sent(), "subscribe");
  script.answer(Verb::subscribe, Kind::granted);
  EXPECT_EQ(script.sent(), "acquire 1 30000") << "the key may have been freed before";
  script.answer(Verb::acquire, busy_near_front(7));
  script.pass(500ms);
  EXPECT_EQ(script.sent(), "");
  script.cancel(script.waiter());
  while (script.open() > 0) script.answer(Kind::granted);
}

TEST(CoordinatorFront, AClaimThatIsGrantedBeforeSubscribesToNothing) {
  InLine script;
  script.notify(Notification::Kind::link_up);
  script.answer(Verb::acquire, busy_near_front(7));
  (void)script.sent();
  script.pass(10ms);
  script.grant(1, 7);
  EXPECT_EQ(script.waiter().answer, Answer::granted);
  EXPECT_EQ(script.sent(), "");
}

TEST(CoordinatorFront, AForeignReleaseIsFollowedByAnAttempt) {
  for (const LockType type : {REENTRANT, WRITE, FENCED}) {
    NearFront script(type);
    script.notify(Notification::Kind::released);
    script.pass(1ms);
    EXPECT_EQ(script.sent(), "acquire 1 30000");
    script.answer(Kind::granted);
    EXPECT_EQ(script.waiter().answer, Answer::granted);
    EXPECT_EQ(script.sent(), "unsubscribe");
  }
}

// An attempt would make the grant wait for its reply.
TEST(CoordinatorFront, AReleaseThatGrantsIsFollowedByNoAttempt) {
  NearFront script;
  script.notify(Notification::Kind::released);
  script.grant(1, 7);
  EXPECT_EQ(script.waiter().answer, Answer::granted);
  EXPECT_EQ(script.sent(), "unsubscribe");
}

TEST(CoordinatorFront, AClaimFurtherBackLeavesItToThem) {
  NearFront script;
  script.pass(1'200ms);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(busy_at(9));  // it had lost its place
  script.notify(Notification::Kind::released);
  script.pass(5ms);
  EXPECT_EQ(script.sent(), "");
  script.notify_first_in_line();
  script.pass(1ms);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(Kind::granted);
}

// A release would not count it among those that it notified.
TEST(CoordinatorFront, AClaimThatHasNoPlaceAnyMoreSubscribesAnew) {
  NearFront script;
  script.pass(1'200ms);
  script.answer(Verb::acquire, Script::busy(30s));
  EXPECT_EQ(script.sent(), "acquire 1 30000, unsubscribe");
  script.answer(Verb::unsubscribe, Kind::granted);
  EXPECT_EQ(script.sent(), "acquire 1 30000");
  script.answer(Verb::acquire, Script::busy(30s));
  EXPECT_EQ(script.sent(), "subscribe");
  script.answer(Verb::subscribe, Kind::granted);
  script.answer(Verb::acquire, Script::busy(30s));
  (void)script.sent();
  script.notify(Notification::Kind::released);
  EXPECT_EQ(script.sent(), "acquire 1 30000") << "at once: nobody serves it";
  script.answer(Kind::granted);
}

TEST(CoordinatorFront, ItsOwnSubscriptionIsNotAmongThoseThatAReleaseNotified) {
  NearFront script;
  Caller& next = script.acquire(REENTRANT, 20s, 30s, Owner::make());
  script.grant(1, 7);
  script.pass(5ms);
  (void)script.sent();
  script.release(script.waiter());
  Outcome notified = Script::of(Kind::granted);
  notified.notified = 1;
  script.answer(Verb::release, notified);
  EXPECT_EQ(next.answer, Answer::pending);
  script.cancel(next);
  while (script.open() > 0) script.answer(Kind::granted);
}

}  // namespace
}  // namespace latchkey::sim
