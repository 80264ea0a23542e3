// Events of watched entries, without a store.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "recipe_fixture.hpp"

namespace latchkey::tests {
namespace {

// Curator's Revoker writes into the entry of a holder, which still holds the lock.
TEST_F(RecipeTest, APredecessorThatIsWrittenToIsStillThereAndWatchedAgain) {
  Request acquire = request(Verb::acquire);
  acquire.queues = true;
  submit(acquire);
  made({ticket(3), ticket(7)});
  EXPECT_EQ(log(), (Log{"create", "watch 3"}));
  recipe_.changed(*recipe_.find("key"), "3");
  EXPECT_EQ(log(), Log{"list"});
  listed(nullptr, {ticket(3), ticket(7)});
  EXPECT_EQ(log(), Log{"watch 3"});
  EXPECT_TRUE(notes_.empty());
}

/// A hold of the entry 7, and checks of it.
class WatchedHold : public RecipeTest {
 protected:
  void SetUp() override { acquire(LockType::REENTRANT, ticket(7)); }
  void acquire(LockType type, const Ticket& own) {
    acquire_ = request(Verb::acquire, type);
    submit(acquire_);
    recipe_.created(*place_, {}, own, 100);
    listed(place_, {own});
    EXPECT_EQ(outcome(), OutcomeKind::granted);
    log();
  }
  /// Ends the check that is under way.
  void checked(bool exists = true) {
    recipe_.checked(*place_, {}, exists, 100);
    deliver();
  }
  void send_check(Verb verb, bool watch) {
    check_ = request(verb);
    check_.watch = watch;
    submit(check_);
  }
  void deleted() {
    if (Line* const line = recipe_.find("key")) recipe_.deleted(*line, "7");
    deliver();
  }
  void changed() {
    recipe_.changed(*recipe_.find("key"), "7");
    deliver();
  }
  std::vector<Notification::Kind> notes() { return std::exchange(notes_, {}); }
  using Notes = std::vector<Notification::Kind>;

  Request acquire_, check_;
};

TEST_F(WatchedHold, ACheckWatchesTheEntryOnlyIfItIsAskedTo) {
  send_check(Verb::renew, true);
  EXPECT_EQ(log(), Log{"check and prolong and watch"});
  checked();
  send_check(Verb::verify, true);
  EXPECT_EQ(log(), Log{"check and watch"});
  checked();
  send_check(Verb::renew, false);
  EXPECT_EQ(log(), Log{"check and prolong"});
}

TEST_F(WatchedHold, TheDeletionOfTheEntryIsOneChangeAndTheNextCheckFindsItGone) {
  send_check(Verb::renew, true);
  checked();
  EXPECT_EQ(outcome(), OutcomeKind::granted);
  deleted();
  EXPECT_EQ(notes(), Notes{Notification::Kind::changed});
  deleted();
  EXPECT_EQ(notes(), Notes{});
  log();
  send_check(Verb::renew, false);
  EXPECT_EQ(outcome(), OutcomeKind::gone);
  EXPECT_EQ(log(), Log{}) << "without a question to the server";
  EXPECT_TRUE(recipe_.is_empty());
}

TEST_F(WatchedHold, AWriteIntoTheEntryIsOneChangeUntilACheckAsksAgain) {
  send_check(Verb::renew, true);
  checked();
  changed();
  EXPECT_EQ(notes(), Notes{Notification::Kind::changed});
  changed();
  EXPECT_EQ(notes(), Notes{});
  outcomes_.clear();
  send_check(Verb::renew, false);
  checked();
  EXPECT_EQ(outcome(), OutcomeKind::granted);
  changed();
  EXPECT_EQ(notes(), Notes{});
  send_check(Verb::renew, true);
  checked();
  changed();
  EXPECT_EQ(notes(), Notes{Notification::Kind::changed});
}

TEST_F(WatchedHold, ADeletionDuringACheckIsTheResultOfTheCheck) {
  send_check(Verb::renew, true);
  checked();
  outcomes_.clear();
  send_check(Verb::renew, true);
  deleted();
  EXPECT_EQ(notes(), Notes{});
  checked(false);
  EXPECT_EQ(outcome(), OutcomeKind::gone);
  EXPECT_EQ(notes(), Notes{});
}

TEST_F(WatchedHold, ItsOwnReleaseIsNoChange) {
  send_check(Verb::renew, true);
  checked();
  Request release = request(Verb::release);
  submit(release);
  deleted();  // the server tells of it before it answers
  recipe_.removed(*place_, {}, true);
  deliver();
  deleted();
  EXPECT_EQ(notes(), Notes{});
  EXPECT_TRUE(recipe_.is_empty());
}

TEST_F(WatchedHold, TheEndOfItsLeaseIsNoChange) {
  send_check(Verb::renew, true);
  checked();
  log();
  recipe_.set_now(recipe_.due());
  recipe_.tick();
  EXPECT_EQ(log(), Log{"remove"});
  deleted();
  recipe_.removed(*place_, {}, true);
  deliver();
  EXPECT_EQ(notes(), Notes{});
  EXPECT_TRUE(recipe_.is_empty());
}

TEST_F(WatchedHold, ADowngradeIsNoChangeAndTheReadersEntryIsWatched) {
  Request release = request(Verb::release);
  submit(release);
  recipe_.removed(*place_, {}, true);
  deliver();
  outcomes_.clear();
  acquire(LockType::WRITE, ticket(7, TicketKind::write));
  send_check(Verb::renew, true);
  checked();
  outcomes_.clear();
  send_check(Verb::downgrade, true);
  deleted();
  EXPECT_EQ(notes(), Notes{});
  Ticket reader = ticket(7, TicketKind::read);
  reader.name = "reader";
  log();
  recipe_.converted(*place_, {}, true, reader);
  deliver();
  EXPECT_EQ(outcome(), OutcomeKind::granted);
  EXPECT_EQ(log(), Log{"watch reader"});
  recipe_.deleted(*recipe_.find("key"), "reader");
  deliver();
  EXPECT_EQ(notes(), Notes{Notification::Kind::changed});
}

TEST_F(WatchedHold, TheWatchSurvivesTheConnectionAndEndsWithTheSession) {
  send_check(Verb::renew, true);
  checked();
  outcomes_.clear();
  recipe_.link_lost("cut");
  recipe_.link_resumed();
  deleted();
  EXPECT_EQ(notes(), Notes{Notification::Kind::changed});
  listed(nullptr, {});
  EXPECT_EQ(notes(), Notes{}) << "it has been told";
  acquire(LockType::REENTRANT, ticket(7));
  send_check(Verb::renew, true);
  checked();
  recipe_.link_lost("cut");
  recipe_.session_lost();
  deleted();
  EXPECT_EQ(notes(), Notes{Notification::Kind::gone});
  outcomes_.clear();
  acquire(LockType::REENTRANT, ticket(7));
  send_check(Verb::renew, false);
  EXPECT_EQ(log(), Log{"check and prolong"});
}

// libzookeeper sets all watches again in one message, which the server must not find too long.
TEST_F(WatchedHold, OneThatHasNoRoomIsNotWatchedUntilAnotherOneEnds) {
  constexpr std::size_t half = 300'000;
  watch_size_ = half;
  send_check(Verb::renew, true);
  EXPECT_EQ(log(), Log{"check and prolong and watch"});
  checked();
  Place* const first = place_;
  Request other = request(Verb::acquire, LockType::READ), again = request(Verb::renew);
  other.key = again.key = "other";
  other.id.number = again.id.number = 8;
  again.watch = true;
  submit(other);
  Place& second = *place_;
  recipe_.created(second, {}, ticket(8, TicketKind::read), 101);
  recipe_.listed(*second.line, &second, {}, {ticket(8, TicketKind::read)});
  log();
  submit(again);
  EXPECT_EQ(log(), Log{"check and prolong"});
  recipe_.checked(second, {}, true, 101);
  Request release = request(Verb::release);
  submit(release);
  recipe_.removed(*first, {}, true);
  log();
  submit(again);
  EXPECT_EQ(log(), Log{"check and prolong and watch"});
}

}  // namespace
}  // namespace latchkey::tests
