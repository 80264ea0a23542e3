// How long an entry of the queue lives whose owner has gone, without a store.
#include <gtest/gtest.h>

#include <chrono>

#include "recipe_fixture.hpp"

namespace latchkey::tests {
namespace {

// It blocked all others for 15 s although its call had gone.
TEST_F(RecipeTest, APlaceThatNobodyAskedForEndsWithTheLease) {
  for (const LockType type : {LockType::READ, LockType::REENTRANT}) {
    recipe_.set_now(Clock::time_point(10s));
    Request acquire = request(Verb::acquire, type);
    acquire.queue_wait = 15s;
    submit(acquire);
    made({ticket(3, TicketKind::write), ticket(7)});
    EXPECT_EQ(outcomes_.at(0).place, 100U);
    EXPECT_EQ(outcome(), OutcomeKind::busy);
    EXPECT_EQ(log(), (Log{"create", "watch 3"}));
    EXPECT_EQ(recipe_.due(), Clock::time_point(11s));
    recipe_.set_now(Clock::time_point(11s));
    recipe_.tick();
    EXPECT_EQ(log(), Log{"remove"});
    recipe_.removed(*place_, {}, true);
    EXPECT_TRUE(recipe_.is_empty());
  }
}

TEST_F(RecipeTest, APlaceInTheProcessQueueEndsBeforeItsReleaseIsNoLongerRepeated) {
  recipe_.set_now(Clock::time_point(10s));
  Request acquire = request(Verb::acquire);
  acquire.queues = true;
  acquire.queue_wait = 15s;
  submit(acquire);
  made({ticket(3), ticket(7)});
  EXPECT_EQ(recipe_.due(), Clock::time_point(20s));
}

TEST_F(RecipeTest, ADeletionThatTheConnectionDidNotSurviveIsRepeated) {
  Request acquire = request(Verb::acquire, LockType::READ), leave = request(Verb::leave);
  acquire.queue_wait = 15s;
  submit(acquire);
  made({ticket(3, TicketKind::write), ticket(7)});
  submit(leave);
  outcomes_.clear();
  log();
  recipe_.link_lost("cut");
  deliver();
  EXPECT_EQ(outcome(), OutcomeKind::unknown);
  recipe_.link_resumed();
  EXPECT_EQ(log(), Log{"remove"});
  recipe_.removed(*place_, {}, true);
  EXPECT_TRUE(recipe_.is_empty());
}

// The release waited for the reply to the acquire, and both had none. Nobody releases the entry
// again after its lease.
TEST_F(RecipeTest, AnEntryWhoseReleaseWasLostWithItsAcquireEndsWithTheLease) {
  recipe_.set_now(Clock::time_point(10s));
  Request acquire = request(Verb::acquire), release = request(Verb::release);
  submit(acquire);
  submit(release);
  recipe_.link_lost("cut");
  deliver();
  outcomes_.clear();
  log();
  recipe_.set_now(Clock::time_point(12s));
  recipe_.link_resumed();
  EXPECT_EQ(log(), Log{"list"});
  listed(nullptr, {ticket(7)});
  recipe_.tick();
  EXPECT_EQ(log(), Log{"remove"});
}

}  // namespace
}  // namespace latchkey::tests
