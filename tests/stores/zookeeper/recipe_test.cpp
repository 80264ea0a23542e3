// The decisions of the recipe, without a store.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "recipe_fixture.hpp"

namespace latchkey::tests {
namespace {

TEST(QueueRecipe, EachWaitsForTheNearestThatExcludesIt) {
  const std::vector<Ticket> queue{ticket(1, TicketKind::read), ticket(2, TicketKind::write),
                                  ticket(3, TicketKind::read), ticket(4, TicketKind::read),
                                  ticket(5)};
  EXPECT_EQ(predecessor(queue, queue[0]).ticket, nullptr);
  EXPECT_EQ(predecessor(queue, queue[1]).ticket, &queue[0]);
  EXPECT_TRUE(predecessor(queue, queue[1]).is_last);
  EXPECT_EQ(predecessor(queue, queue[2]).ticket, &queue[1]);
  EXPECT_EQ(predecessor(queue, queue[3]).ticket, &queue[1]);
  EXPECT_EQ(predecessor(queue, queue[4]).ticket, &queue[3]);
  EXPECT_EQ(holders(queue), std::vector<const Ticket*>{&queue[0]});
}

TEST(QueueRecipe, AWriterMayBecomeAReaderAtItsPosition) {
  const std::vector<Ticket> queue{ticket(1, TicketKind::write), ticket(2)};
  EXPECT_FALSE(predecessor(queue, queue[1]).is_last);
}

TEST(QueueRecipe, SequenceNumbersWrap) {
  const std::vector<Ticket> queue{ticket(0x7FFFFFFF), ticket(0x80000000)};
  EXPECT_EQ(predecessor(queue, queue[0]).ticket, nullptr);
  EXPECT_EQ(predecessor(queue, queue[1]).ticket, &queue[0]);
}

TEST_F(RecipeTest, AnAttemptThatDoesNotWaitDeletesItsEntryBeforeItIsBusy) {
  Request acquire = request(Verb::acquire);
  submit(acquire);
  EXPECT_EQ(log(), Log{"create"});
  made({ticket(3), ticket(7)});
  EXPECT_EQ(log(), Log{"remove"});
  EXPECT_TRUE(outcomes_.empty());
  recipe_.removed(*place_, {}, true);
  deliver();
  EXPECT_EQ(outcome(), OutcomeKind::busy);
  EXPECT_TRUE(recipe_.is_empty());
}

TEST_F(RecipeTest, TheLastPredecessorsDeletionGrantsAfterALookAtTheOwnEntry) {
  Request acquire = request(Verb::acquire);
  acquire.queues = true;
  submit(acquire);
  made({ticket(3), ticket(7)});
  EXPECT_EQ(outcome(), OutcomeKind::busy);
  EXPECT_EQ(log(), (Log{"create", "watch 3"}));
  recipe_.deleted(*recipe_.find("key"), "3");
  deliver();
  EXPECT_EQ(log(), Log{"check"});
  EXPECT_TRUE(notes_.empty());
  recipe_.checked(*place_, {}, true, 100);
  deliver();
  EXPECT_EQ(log(), Log{});
  EXPECT_EQ(notes_, std::vector{Notification::Kind::granted});
}

// An operator had deleted it, or the leader had ended the session: the next in the queue was
// granted the lock, too.
TEST_F(RecipeTest, AWaiterWhoseOwnEntryWasDeletedIsNotGranted) {
  Request acquire = request(Verb::acquire);
  acquire.queues = true;
  submit(acquire);
  made({ticket(3), ticket(7)});
  EXPECT_EQ(outcome(), OutcomeKind::busy);
  log();
  recipe_.deleted(*recipe_.find("key"), "3");
  Request again = acquire;
  submit(again);  // waits for the look
  EXPECT_EQ(log(), Log{"check"});
  recipe_.checked(*place_, {}, false, 0);
  deliver();
  EXPECT_TRUE(notes_.empty());
  EXPECT_EQ(log(), Log{"create"}) << "the acquire takes a new place";
}

TEST_F(RecipeTest, AWaiterWithoutACallIsToldThatItsEntryIsGone) {
  Request acquire = request(Verb::acquire);
  acquire.queues = true;
  submit(acquire);
  made({ticket(3), ticket(7)});
  outcomes_.clear();
  recipe_.deleted(*recipe_.find("key"), "3");
  recipe_.checked(*place_, {}, false, 0);
  deliver();
  EXPECT_EQ(notes_, std::vector{Notification::Kind::released});
  EXPECT_TRUE(recipe_.is_empty());
}

TEST_F(RecipeTest, TheConnectionIsLostDuringTheLookAtTheOwnEntry) {
  Request acquire = request(Verb::acquire);
  acquire.queues = true;
  submit(acquire);
  made({ticket(3), ticket(7)});
  outcomes_.clear();
  recipe_.deleted(*recipe_.find("key"), "3");
  recipe_.link_lost("cut");
  log();
  recipe_.link_resumed();
  EXPECT_EQ(log(), Log{"list"});
  listed(nullptr, {ticket(7)});
  EXPECT_EQ(notes_, std::vector{Notification::Kind::granted});
}

// A read of a server that is cut off from the leader moved the deadline.
TEST_F(RecipeTest, WhatMovesADeadlineNeedsAMajorityOfTheServers) {
  Request acquire = request(Verb::acquire), renew = request(Verb::renew);
  Request verify = request(Verb::verify), again = request(Verb::acquire);
  submit(acquire);
  made({ticket(7)});
  for (Request* const each : {&renew, &verify, &again}) {
    log();
    submit(*each);
    EXPECT_EQ(log(), Log{each->verb == Verb::verify ? "check" : "check and prolong"});
    recipe_.checked(*place_, {}, true, 100);
    deliver();
  }
}

TEST_F(RecipeTest, TheDeletionOfOneOfSeveralLeadsToALookAndTheNextWatch) {
  Request acquire = request(Verb::acquire);
  acquire.queues = true;
  submit(acquire);
  made({ticket(3), ticket(5), ticket(7)});
  log();
  recipe_.deleted(*recipe_.find("key"), "5");
  EXPECT_EQ(log(), Log{"list"});
  listed(nullptr, {ticket(3), ticket(7)});
  EXPECT_EQ(log(), Log{"watch 3"});
  EXPECT_TRUE(notes_.empty());
}

TEST_F(RecipeTest, ALeaseThatEndsDeletesTheEntry) {
  recipe_.set_now(Clock::time_point(10s));
  Request acquire = request(Verb::acquire), renew = request(Verb::renew);
  submit(acquire);
  made({ticket(7)});
  EXPECT_EQ(outcome(), OutcomeKind::granted);
  log();
  EXPECT_EQ(recipe_.due(), Clock::time_point(11s));
  recipe_.set_now(Clock::time_point(11s));
  recipe_.tick();
  EXPECT_EQ(log(), Log{"remove"});
  submit(renew);
  recipe_.removed(*place_, {}, true);
  deliver();
  EXPECT_EQ(outcome(), OutcomeKind::gone);
  EXPECT_TRUE(recipe_.is_empty());
}

TEST_F(RecipeTest, ALostReplyIsUnknownAndTheReleaseFindsTheEntry) {
  Request acquire = request(Verb::acquire), leave = request(Verb::leave);
  submit(acquire);
  recipe_.link_lost("cut");
  deliver();
  EXPECT_FALSE(outcomes_.at(0).never_ran);
  EXPECT_EQ(outcome(), OutcomeKind::unknown);
  log();
  recipe_.link_resumed();
  EXPECT_EQ(log(), Log{"list"});
  listed(nullptr, {ticket(7)});
  log();
  submit(leave);
  EXPECT_EQ(log(), Log{"remove"});
  recipe_.removed(*place_, {}, true);
  deliver();
  EXPECT_EQ(outcome(), OutcomeKind::granted);
  EXPECT_TRUE(recipe_.is_empty());
}

TEST_F(RecipeTest, ARepeatedAcquireAdoptsTheEntryWhoseReplyWasLost) {
  Request acquire = request(Verb::acquire, LockType::FENCED), again = acquire;
  submit(acquire);
  recipe_.link_lost("cut");
  deliver();
  outcomes_.clear();
  recipe_.link_resumed();
  submit(again);
  log();
  Place& place = *recipe_.find("key")->places[0];
  listed(&place, {ticket(7)});
  EXPECT_EQ(log(), Log{"check and prolong"});
  recipe_.checked(place, {}, true, 100);
  deliver();
  if (outcomes_.empty()) {
    EXPECT_EQ(log(), Log{"list"});
    listed(&place, {ticket(7)});
  }
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].token, 100U * 256);
  EXPECT_EQ(outcome(), OutcomeKind::granted);
}

TEST_F(RecipeTest, ATokenIsThatOfTheEntryIfItIsAskedForAndAReadHasNone) {
  for (const bool fenced : {false, true}) {
    Request acquire = request(Verb::acquire, LockType::WRITE);
    acquire.fenced = fenced;
    acquire.tokens = 3;
    submit(acquire);
    Place& place = *place_;
    recipe_.created(place, {}, ticket(7, TicketKind::write), 100);
    listed(&place, {ticket(7, TicketKind::write)});
    ASSERT_EQ(outcomes_.size(), 1U);
    EXPECT_EQ(outcomes_[0].token, fenced ? 100U * 256 + 2 : 0U);
    EXPECT_EQ(outcome(), OutcomeKind::granted);
    Request downgrade = request(Verb::downgrade, LockType::WRITE);
    submit(downgrade);
    recipe_.converted(place, {}, true, ticket(7, TicketKind::read));
    deliver();
    EXPECT_EQ(outcome(), OutcomeKind::granted);
    Request read = request(Verb::acquire, LockType::READ), release = request(Verb::release);
    submit(read);
    recipe_.checked(place, {}, true, 100);
    deliver();
    ASSERT_EQ(outcomes_.size(), 1U);
    EXPECT_EQ(outcomes_[0].token, 0U);
    EXPECT_EQ(outcome(), OutcomeKind::granted);
    submit(release);
    recipe_.removed(place, {}, true);
    deliver();
    EXPECT_EQ(outcome(), OutcomeKind::granted);
  }
}

TEST_F(RecipeTest, TheEndOfTheSessionTellsEachHold) {
  Request acquire = request(Verb::acquire), verify = request(Verb::verify);
  submit(acquire);
  made({ticket(7)});
  outcomes_.clear();
  recipe_.link_lost("cut");
  recipe_.session_lost();
  deliver();
  EXPECT_EQ(notes_, std::vector{Notification::Kind::gone});
  EXPECT_TRUE(recipe_.is_empty());
  submit(verify);
  EXPECT_EQ(outcome(), OutcomeKind::gone);
}

TEST_F(RecipeTest, ADowngradeWhoseReplyWasLostStaysAHold) {
  Request acquire = request(Verb::acquire, LockType::WRITE);
  Request downgrade = request(Verb::downgrade, LockType::WRITE), again = downgrade;
  submit(acquire);
  Place& place = *place_;
  recipe_.created(place, {}, ticket(7, TicketKind::write), 100);
  listed(&place, {ticket(7, TicketKind::write)});
  outcomes_.clear();
  submit(downgrade);
  recipe_.link_lost("cut");
  deliver();
  outcomes_.clear();
  recipe_.link_resumed();
  listed(nullptr, {ticket(7, TicketKind::read)});
  submit(again);
  recipe_.checked(place, {}, true, 100);
  deliver();
  EXPECT_EQ(outcome(), OutcomeKind::granted);
}

}  // namespace
}  // namespace latchkey::tests
