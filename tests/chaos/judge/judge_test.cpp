// The judge: histories in, violations out.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/judge/judge.hpp"

#include <gtest/gtest.h>

#include "chaos/judge/history_builder.hpp"

namespace latchkey::chaos {
namespace {

using enum FaultKind;

TEST(JudgeExclusion, TwoHoldersAtOnceAreAViolation) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200);
  builder.visit(1, 150, 250);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeExclusion, OneAfterTheOtherAndOtherKeysAreNot) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200);
  builder.visit(1, 201, 250);
  builder.visit(1, 120, 130).key = 1;
  EXPECT_EQ(builder.broken(judge_exclusion), "");
}

TEST(JudgeExclusion, ReadersShareButNotWithAWriter) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200).type = LockType::READ;
  builder.visit(1, 150, 250).type = LockType::READ;
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  builder.visit(1, 160, 170).type = LockType::WRITE;
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders; promise 1: two holders");
}

TEST(JudgeExclusion, AHolderWhoWasToldExcludesNobody) {
  HistoryBuilder builder;
  Visit& stopped = builder.visit(0, 100, 120);  // and stopped, longer than its lease
  stopped.told = 2'000 * millisecond;
  stopped.left = stopped.ended = 2'001 * millisecond;
  builder.visit(1, 1'500, 1'600);
  EXPECT_EQ(builder.broken(judge_exclusion), "");
}

TEST(JudgeExclusion, AFlushExcusesUntilTheNextCheckAndNoLonger) {
  HistoryBuilder builder;
  builder.visit(0, 100, 700);
  builder.visit(1, 201, 600);
  builder.fault(flushall, 200, 200);
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  builder.history().visits[0].held_until = builder.history().visits[1].held_until =
      1'000 * millisecond;
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeExclusion, AFailoverExcusesUntilTheLeasesBeforeItEndAndOnlyIfItLosesData) {
  HistoryBuilder builder;
  builder.visit(0, 100, 1'190);
  builder.visit(1, 210, 1'190);
  Fault& fault = builder.fault(failover, 200, 205);
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  fault.excuses = impairs;  // every replica confirms what is granted
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
  fault.excuses = traits(failover).excuses;
  builder.history().visits[0].held_until = builder.history().visits[1].held_until =
      1'300 * millisecond;
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

// Both were granted after it: nothing that the server lost is theirs.
TEST(JudgeExclusion, AFlushExcusesNobodyWhoCalledLongAfterIt) {
  HistoryBuilder builder;
  builder.fault(flushall, 200, 200);
  builder.visit(0, 510, 700);
  builder.visit(1, 520, 600);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
  builder.history().visits[0].called = 499 * millisecond;  // its process may have had the lock
  EXPECT_EQ(builder.broken(judge_exclusion), "");
}

// A READ joins the hold that its process believes in until a check finds the loss.
TEST(JudgeExclusion, AReadMayJoinALostHoldUntilTheNextCheck) {
  HistoryBuilder builder;
  builder.fault(flushall, 200, 200);
  builder.visit(0, 900, 950).type = LockType::READ;
  builder.visit(1, 600, 940).type = LockType::WRITE;
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  builder.history().visits[0].called = builder.history().visits[0].entered = 1'010 * millisecond;
  builder.history().visits[0].held_until = builder.history().visits[1].held_until =
      1'100 * millisecond;
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeExclusion, AFlushExcusesNothingBeforeIt) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200);
  builder.visit(1, 150, 250);
  builder.fault(flushall, 180, 180);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeExclusion, ARestartWithItsDataExcusesNothing) {
  HistoryBuilder builder;
  builder.visit(0, 100, 400);
  builder.visit(1, 350, 450);
  builder.fault(server_kill, 200, 300);
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: two holders");
}

TEST(JudgeExclusion, ASemaphoreHasNoMoreHoldersThanPermits) {
  HistoryBuilder builder;
  for (int visit = 0; visit < 3; ++visit) {
    builder.visit(0, 100 + visit, 200).type = LockType::PERMIT;
  }
  EXPECT_EQ(builder.broken(judge_exclusion), "");
  builder.visit(1, 150, 250).type = LockType::PERMIT;
  EXPECT_EQ(builder.broken(judge_exclusion), "promise 1: more holders than permits");
  builder.fault(flushall, 140, 140);
  EXPECT_EQ(builder.broken(judge_exclusion), "");
}

TEST(JudgeDeadlines, HoldingBeyondTheLeaseIsAViolation) {
  HistoryBuilder builder;
  builder.visit(0, 100, 1'080);
  EXPECT_EQ(builder.broken(judge_deadlines), "");
  builder.visit(1, 5'000, 6'400);
  EXPECT_EQ(builder.broken(judge_deadlines), "promise 2: held beyond the lease");
}

// A hold that was granted for less than its lease is renewed once, here after the stop.
TEST(JudgeDeadlines, AStopDelaysTheOneRenewalToTheLease) {
  HistoryBuilder builder;
  builder.visit(0, 100, 1'456);
  builder.fault(client_stop_short, 128, 469, 0);
  EXPECT_EQ(builder.broken(judge_deadlines), "");
}

// The renewal is answered before the deadline that it replaces, whatever happens.
TEST(JudgeDeadlines, NoFaultLetsAHoldLastLongerThanTwiceItsLease) {
  HistoryBuilder builder;
  builder.fault(link_slow, 120, 2'000, 0);
  builder.visit(0, 100, 100 + 2 * 990);
  EXPECT_EQ(builder.broken(judge_deadlines), "");
  builder.visit(0, 100, 100 + 2 * 990 + 1);
  EXPECT_EQ(builder.broken(judge_deadlines), "promise 2: held beyond the lease");
}

TEST(JudgeDeadlines, ASilentServerMovesNoDeadline) {
  HistoryBuilder builder;
  builder.visit(0, 100, 1'180).watchdog = true;
  builder.fault(server_stop_long, 200, 3'000);
  EXPECT_EQ(builder.broken(judge_deadlines), "");
  builder.visit(1, 100, 1'300).watchdog = true;
  EXPECT_EQ(builder.broken(judge_deadlines),
            "promise 2: held beyond the deadline without a server");
}

// It was not, because a stopped process reads no clock between the begin and the end.
TEST(JudgeDeadlines, AHoldOfAProcessThatWasStoppedForLongerThanTheLeaseIsLost) {
  HistoryBuilder builder;
  builder.fault(client_stop_long, 200, 3'000, 0);
  builder.visit(0, 100, 199).watchdog = true;
  EXPECT_EQ(builder.broken(judge_deadlines), "");
  builder.visit(0, 100, 3'001).watchdog = true;
  EXPECT_EQ(builder.broken(judge_deadlines),
            "promise 2: held beyond the deadline without a server");
}

TEST(JudgeDeadlines, AHoldFromAfterTheSilenceHasItsWholeLease) {
  HistoryBuilder builder;
  builder.fault(server_stop_long, 200, 3'000);
  builder.visit(0, 3'001, 3'900).watchdog = true;
  EXPECT_EQ(builder.broken(judge_deadlines), "");
}

TEST(JudgeDeadlines, ALossIsNeverTakenBack) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200).loss_taken_back = true;
  EXPECT_EQ(builder.broken(judge_deadlines), "promise 2: lost() was true and then false");
}

TEST(JudgeNotices, ADeletedKeyIsNoticedAThirdOfTheLeaseLater) {
  HistoryBuilder builder;
  builder.visit(0, 100, 800);
  builder.fault(delete_key, 200, 200).key = 0;
  EXPECT_EQ(builder.broken(judge_notices), "");
  builder.visit(0, 100, 900);
  EXPECT_EQ(builder.broken(judge_notices), "promise 3: a hold that the server lost is not noticed");
}

// The fault also delays the check: by the time that a connection takes to come back.
TEST(JudgeNotices, ARestartWithoutDataIsNoticedOnceTheConnectionIsBack) {
  HistoryBuilder builder;
  builder.visit(0, 100, 3'400, 10'000).watchdog = true;
  builder.fault(server_kill_empty, 200, 300);
  EXPECT_EQ(builder.broken(judge_notices), "");
  builder.visit(0, 100, 6'500, 10'000).watchdog = true;
  EXPECT_EQ(builder.broken(judge_notices), "promise 3: a hold that the server lost is not noticed");
}

TEST(JudgeNotices, AWorkerWithoutItsServerIsNotDueYet) {
  HistoryBuilder builder;
  builder.visit(0, 100, 900);
  builder.fault(delete_key, 200, 200).key = 0;
  builder.fault(link_mute, 150, 700, 0);
  EXPECT_EQ(builder.broken(judge_notices), "");
}

TEST(JudgeUpdates, AnUpdateLostByAHolderIsAViolation) {
  HistoryBuilder builder;
  Visit& torn = builder.visit(0, 100, 200);
  torn.intact = false;
  torn.written = 201 * millisecond;
  EXPECT_EQ(builder.broken(judge_updates), "promise 1: an update is lost");
}

TEST(JudgeUpdates, AWriteAfterTheDeadlineExcusesTheVisitThatItDisturbs) {
  HistoryBuilder builder;
  Visit& torn = builder.visit(0, 2'000, 2'100);
  torn.intact = false;
  torn.written = 2'101 * millisecond;
  builder.visit(1, 100, 120);
  Visit& late = builder.history().visits.back();
  late.wrote = true;
  late.written = 2'050 * millisecond;
  EXPECT_EQ(builder.broken(judge_updates), "");
}

// The kill may have come between the write and its record, but not before the visit that it
// disturbs.
TEST(JudgeUpdates, AKilledWriterExcusesOnlyVisitsThatBeganBeforeTheKill) {
  HistoryBuilder builder;
  Visit& killed = builder.visit(1, 100, 120);
  killed.killed = true;
  killed.left = killed.ended = 0;
  killed.release = Outcome::none;
  builder.fault(client_kill, 140, 300, 1);
  Visit& torn = builder.visit(0, 130, 200);
  torn.intact = false;
  torn.written = 201 * millisecond;
  EXPECT_EQ(builder.broken(judge_updates), "");
  builder.history().visits.back().entered = 150 * millisecond;
  EXPECT_EQ(builder.broken(judge_updates), "promise 1: an update is lost");
}

TEST(JudgeReleases, ALossThatIsToldNeedsACause) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200).told = 210 * millisecond;
  EXPECT_EQ(builder.broken(judge_releases), "promise 1: a hold ended before its lease");
  builder.fault(delete_key, 150, 150).key = 0;
  EXPECT_EQ(builder.broken(judge_releases), "");
  builder.history().faults.clear();
  builder.history().visits.back().told = 1'200 * millisecond;  // after the deadline
  EXPECT_EQ(builder.broken(judge_releases), "");
}

TEST(JudgeReleases, AHoldThatIsGoneBeforeItsDeadlineIsAViolation) {
  HistoryBuilder builder;
  builder.visit(0, 100, 200).release = Outcome::busy;
  EXPECT_EQ(builder.broken(judge_releases), "promise 1: a hold ended before its lease");
  builder.fault(delete_key, 150, 150).key = 0;
  EXPECT_EQ(builder.broken(judge_releases), "");
}

}  // namespace
}  // namespace latchkey::chaos
