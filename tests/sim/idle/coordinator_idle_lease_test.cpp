// The short lease of a hold that is kept idle: its renewals, and what the calls that take it get.
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

class CoordinatorIdleLease : public IdleTest {};

TEST_F(CoordinatorIdleLease, AShortTimeIsUsedToItsEndWithOneRequest) {
  for (const milliseconds cache : {10ms, 290ms}) {
    Script brief(kept_for(cache));
    become_idle_in(brief);
    EXPECT_EQ(brief.sent(), "acquire 1 30000, expire 1 900");
    brief.pass(cache - 1ms);
    Caller& next = take_in(brief);
    brief.release(next);
    EXPECT_EQ(brief.sent(), "");
    brief.pass(1ms);
    EXPECT_EQ(brief.sent(), "release 1");
    brief.answer(Kind::granted);
  }
}

// Others wait at most 0.9 s for it if the process ends.
TEST_F(CoordinatorIdleLease, ItsShortLeaseIsRenewedWhileItIsKept) {
  Script patient(kept_for(1s));
  become_idle_in(patient);
  EXPECT_EQ(patient.sent(), "acquire 1 30000, expire 1 900");
  for (int renewal = 1; renewal <= 4; ++renewal) {
    patient.pass(190ms);
    EXPECT_EQ(patient.sent(), "") << renewal;
    patient.pass(1ms);
    EXPECT_EQ(patient.sent(), "renew 1 900") << renewal;
    patient.answer(Kind::granted);
  }
  patient.pass(235ms);
  Caller& next = take_in(patient);
  EXPECT_EQ(patient.left(next), 656ms);
  patient.release(next);
  EXPECT_EQ(patient.events(), "attempt, granted, released, attempt, granted, released");
  EXPECT_EQ(patient.sent(), "");
  patient.pass(1ms);
  EXPECT_EQ(patient.sent(), "release 1");
  patient.answer(Kind::granted);
}

TEST_F(CoordinatorIdleLease, WhileItIsRenewedACallMayTakeItForWhatIsLeft) {
  Script patient(kept_for(1s));
  become_idle_in(patient);
  patient.pass(191ms + 90ms);
  EXPECT_EQ(patient.sent(), "acquire 1 30000, expire 1 900, renew 1 900");
  Caller& next = take_in(patient);
  EXPECT_EQ(patient.left(next), 610ms);
  patient.answer(Kind::granted);
  EXPECT_EQ(patient.left(next), 801ms);
  patient.release(next);
  patient.pass(101ms);
  EXPECT_EQ(patient.sent(), "renew 1 900");
  patient.pass(101ms);
  Caller& last = take_in(patient);
  EXPECT_EQ(last.answer, Answer::pending) << "a renewal of it could not be answered any more";
  EXPECT_EQ(patient.sent(), "release 1, acquire 2 30000");
  while (patient.open() > 0) patient.answer(Kind::granted);
}

// A minimum time that it asks for would end with the short lease otherwise.
TEST_F(CoordinatorIdleLease, ACallThatTakesItMayRetainItForLonger) {
  CoordinatorSettings expires = kept_for(10s);
  expires.expires = true;
  for (const bool renewing : {false, true}) {
    Script patient(expires);
    become_idle_in(patient);
    patient.pass(renewing ? 191ms : 10ms);
    static_cast<void>(patient.sent());
    Caller& next = take_in(patient);
    const Caller& release = patient.release(next, 5s);
    if (renewing) patient.answer(Kind::granted);
    EXPECT_EQ(patient.sent(), "renew 1 5051");
    patient.answer(Kind::granted);
    EXPECT_EQ(patient.sent(), "expire 1") << "it ends then, whatever becomes of the process";
    EXPECT_EQ(release.answer, Answer::pending);
    patient.answer(Kind::granted);
    EXPECT_EQ(release.answer, Answer::granted);
    patient.pass(4'999ms);
    EXPECT_EQ(patient.sent(), "");
    patient.pass(1ms);
    EXPECT_EQ(patient.sent(), "release 1");
    patient.answer(Kind::granted);
  }
}

TEST_F(CoordinatorIdleLease, ACallWithAShortLeaseLeavesItForAsLongAsAnotherOneCanTakeIt) {
  Script patient(kept_for(10s));
  become_idle_in(patient, 800ms);
  EXPECT_EQ(patient.sent(), "acquire 1 800, expire 1 800");
  patient.pass(191ms);
  Caller& next = take_in(patient, 800ms);
  EXPECT_EQ(patient.left(next), 601ms);
  patient.release(next);
  EXPECT_EQ(patient.sent(), "");
  patient.pass(1ms);
  EXPECT_EQ(patient.sent(), "release 1");
  patient.answer(Kind::granted);
}

TEST_F(CoordinatorIdleLease, ARenewalThatWasUnderWayIsNoAnswerToTheCallThatExtends) {
  Script patient(kept_for(1s));
  become_idle_in(patient);
  patient.pass(191ms);
  Caller& next = take_in(patient);
  Caller& extend = patient.extend(next, 900ms);
  EXPECT_EQ(patient.sent(), "acquire 1 30000, expire 1 900, renew 1 900");
  patient.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::pending);
  EXPECT_EQ(patient.sent(), "renew 1 30000");
  patient.answer(Kind::granted);
  EXPECT_EQ(extend.answer, Answer::granted);
  patient.release(next);
  patient.answer(Kind::granted);
  patient.notify(Change::wanted);
  patient.answer(Kind::granted);
}

TEST_F(CoordinatorIdleLease, ACallThatUsesItAllTheTimeRenewsItsShortLease) {
  Script busy(kept_for(1s));
  become_idle_in(busy);
  EXPECT_EQ(busy.sent(), "acquire 1 30000, expire 1 900");
  for (auto used = 0ms; used < 1s; used += 10ms) {
    Caller& next = take_in(busy);
    ASSERT_EQ(next.answer, Answer::granted);
    ASSERT_GE(busy.left(next), 690ms);
    busy.pass(10ms);
    busy.release(next);
    while (busy.open() > 0) busy.answer(Kind::granted);
  }
  EXPECT_EQ(busy.sent(), "renew 1 900, renew 1 900, renew 1 900, renew 1 900, release 1");
}

TEST_F(CoordinatorIdleLease, AHolderThatKeepsItForLongRenews) {
  become_idle();
  Caller& next = take();
  script.pass(50ms);
  EXPECT_EQ(script.sent(), "renew 1 30000");
  script.answer(Kind::granted);
  EXPECT_GT(script.left(next), 29s);
  EXPECT_EQ(script.release(next).answer, Answer::granted);
  EXPECT_EQ(script.sent(), "expire 1 900") << "its lease is short while it is idle";
  script.answer(Kind::granted);
  script.pass(50ms);
  end_release();
}

// Most of the lease that the call asks for is left, so it needs no other one.
TEST_F(CoordinatorIdleLease, AHolderWithAShortLeaseIsChecked) {
  become_idle_in(script, 900ms);
  EXPECT_EQ(script.sent(), "acquire 1 900, expire 1 900");
  script.pass(50ms);
  Caller& next = take(REENTRANT, 900ms);
  EXPECT_EQ(next.answer, Answer::granted);
  script.pass(300ms);
  EXPECT_EQ(script.sent(), "verify 1");
  script.answer(Kind::gone);
  EXPECT_TRUE(script.lost(next));
}

// A renewal is a change of the key that the backend tells to nobody, and the last that it watches.
TEST_F(CoordinatorIdleLease, AfterARenewalTheBackendIsAskedAgainHoweverShortTheLease) {
  become_idle_in(script, 900ms);
  Caller& next = take(REENTRANT, 900ms);
  Caller& renewal = script.extend(next, 900ms);
  EXPECT_EQ(script.sent(), "acquire 1 900, expire 1 900, renew 1 900");
  script.answer(Kind::granted);
  EXPECT_EQ(renewal.answer, Answer::granted);
  script.release(next);
  EXPECT_EQ(script.sent(), "expire 1 900");
  script.answer(Kind::granted);
  script.notify(Change::wanted);
  script.answer(Kind::granted);
}

TEST_F(CoordinatorIdleLease, AHoldWithAShortLeaseIsNotKept) {
  Caller& held = script.acquire(REENTRANT, 1s, 600ms);
  script.answer(Kind::granted);
  script.release(held);
  end_release("acquire 1 600, release 1");
}

TEST_F(CoordinatorIdleLease, AShorterLeaseGivesItBackFirst) {
  become_idle();
  take(REENTRANT, 899ms);
  EXPECT_EQ(script.sent(), "release 1, acquire 2 899");
  script.answer(Kind::granted);
  script.answer(Kind::granted);
}

}  // namespace
}  // namespace latchkey::sim
