// Leaders that are elected, resign, end, throw and are destroyed.
#include <latchkey/leader.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "support/manual_locks.hpp"
#include "unit/leader/duty.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;
using tests::Duty;
using tests::eventually;

class LeaderTest : public ::testing::Test, public tests::ManualLocks {
 protected:
  Duty one_duty, other_duty;

  /// Advances the clock, once the timer and a leader sleep.
  void pass_with_leader(Clock::duration length) {
    ASSERT_TRUE(clock.await_sleepers(2));
    clock.advance(length);
  }
  static bool reaches(const Leader& leader, LeaderState state) {
    return eventually([&] { return leader.health().state == state; });
  }
};

TEST_F(LeaderTest, IsElectedAndTellsItsHealth) {
  const auto elected_at = clock.now();
  const Leader leader = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(one_duty.await_terms(1));
  EXPECT_TRUE(leader.is_leader());
  EXPECT_EQ(leader.since(), elected_at);
  EXPECT_EQ(leader.term(), one_duty.terms()[0]);
  pass_with_leader(5s);
  const LeaderHealth health = leader.health();
  EXPECT_EQ(health.state, LeaderState::leading);
  EXPECT_TRUE(health.is_leader);
  EXPECT_EQ(health.term, leader.term());
  EXPECT_EQ(health.since, elected_at) << "not the time of the question";
  EXPECT_EQ(health.trouble, "");
  ASSERT_TRUE(recorder.await(Kind::elected));
  const Event event = recorder.of(Kind::elected)[0];
  EXPECT_EQ(event.key, "k");
  EXPECT_EQ(event.type, LockType::FENCED);
  EXPECT_EQ(event.fencing_token, leader.term());
}

TEST_F(LeaderTest, KeepsLeadingBecauseTheWatchdogRenews) {
  const Leader leader = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(one_duty.await_terms(1));
  for (std::size_t renewals = 1; renewals <= 9; ++renewals) {
    pass_with_leader(10s);
    ASSERT_TRUE(recorder.await(Kind::renewed, renewals));
    EXPECT_TRUE(leader.is_leader());
  }
  EXPECT_EQ(leader.health().state, LeaderState::leading);
  EXPECT_EQ(one_duty.terms().size(), 1U);
}

TEST_F(LeaderTest, CandidateIsNoLeader) {
  const Hold hold = locks.lock("k").acquire(forever);
  const Leader leader = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(recorder.await(Kind::waiting));
  EXPECT_FALSE(leader.is_leader());
  EXPECT_EQ(leader.since(), std::nullopt);
  EXPECT_EQ(leader.term(), 0U);
  EXPECT_EQ(leader.health().state, LeaderState::campaigning);
}

TEST_F(LeaderTest, ResignHandsOverToTheNextWithALargerTerm) {
  Leader one = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(one_duty.await_terms(1));
  const Leader other = locks.leader("k", other_duty.callback());
  ASSERT_TRUE(recorder.await(Kind::waiting));
  EXPECT_TRUE(one.resign());
  ASSERT_TRUE(other_duty.await_terms(1));
  EXPECT_FALSE(one.is_leader());
  EXPECT_TRUE(other.is_leader());
  EXPECT_GT(other.term(), one.term());
  EXPECT_EQ(recorder.count(Kind::deposed), 0U) << "it resigned";
}

TEST_F(LeaderTest, ReleasesOnlyAfterTheCallbackHasEnded) {
  one_duty.lingers = true;
  Leader one = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(one_duty.await_terms(1));
  const Leader other = locks.leader("k", other_duty.callback());
  ASSERT_TRUE(recorder.await(Kind::waiting));
  EXPECT_TRUE(one.resign());
  ASSERT_TRUE(one_duty.await_stops(1));
  EXPECT_TRUE(reaches(one, LeaderState::stopping));
  EXPECT_TRUE(one.is_leader()) << "it still holds the lock";
  EXPECT_EQ(other.health().state, LeaderState::campaigning);
  other_duty.on_stop = [&] { EXPECT_FALSE(one_duty.runs()); };
  one_duty.finish();
  ASSERT_TRUE(other_duty.await_terms(1));
  EXPECT_FALSE(one_duty.runs());
}

TEST_F(LeaderTest, CampaignsAgainAfterThePauseOnceItResigned) {
  Leader leader = locks.leader("k", one_duty.callback(), {.pause = 2s});
  ASSERT_TRUE(one_duty.await_terms(1));
  EXPECT_TRUE(leader.resign());
  ASSERT_TRUE(reaches(leader, LeaderState::pausing));
  EXPECT_FALSE(leader.resign()) << "no callback runs";
  EXPECT_TRUE(locks.list().empty());
  pass_with_leader(2s);
  ASSERT_TRUE(one_duty.await_terms(2));
  EXPECT_GT(one_duty.terms()[1], one_duty.terms()[0]);
}

TEST_F(LeaderTest, CampaignsAgainAfterTheCallbackReturned) {
  const Leader leader = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(one_duty.await_terms(1));
  one_duty.finish();
  ASSERT_TRUE(reaches(leader, LeaderState::pausing));
  pass_with_leader(1s);
  EXPECT_TRUE(one_duty.await_terms(2));
}

TEST_F(LeaderTest, EndsAfterTheCallbackReturnedIfAsked) {
  Leader leader = locks.leader("k", one_duty.callback(), {.after_return = AfterReturn::end});
  ASSERT_TRUE(one_duty.await_terms(1));
  EXPECT_TRUE(leader.resign());  // told to stop: it campaigns again
  ASSERT_TRUE(reaches(leader, LeaderState::pausing));
  pass_with_leader(1s);
  ASSERT_TRUE(one_duty.await_terms(2));
  one_duty.finish();
  ASSERT_TRUE(reaches(leader, LeaderState::ended));
  EXPECT_FALSE(leader.is_leader());
  EXPECT_FALSE(leader.resign());
  EXPECT_EQ(leader.term(), one_duty.terms()[1]);
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(LeaderTest, ReportsACallbackThatThrowsAndBacksOff) {
  const Leader leader = locks.leader(
      "k", [](const std::stop_token&, std::uint64_t) { throw std::runtime_error("no disk"); },
      {.pause = 1s, .longest_pause = 4s});
  for (std::size_t terms = 1; terms <= 4; ++terms) {
    ASSERT_TRUE(recorder.await(Kind::hidden_error, terms));
    ASSERT_TRUE(reaches(leader, LeaderState::pausing));
    EXPECT_EQ(leader.health().trouble, "the callback of the Leader threw: no disk");
    EXPECT_FALSE(leader.is_leader());
    EXPECT_TRUE(locks.list().empty());
    // At least a half of 2 s, then of 4 s.
    pass_with_leader(terms == 1 ? 999ms : 1'999ms);
    EXPECT_EQ(leader.health().state, LeaderState::pausing) << terms;
    pass_with_leader(4s);
  }
  const Event event = recorder.of(Kind::hidden_error)[0];
  EXPECT_EQ(event.text, "the callback of the Leader threw: no disk");
  EXPECT_EQ(event.key, "k");
  EXPECT_EQ(event.fencing_token, recorder.of(Kind::elected)[0].fencing_token);
}

TEST_F(LeaderTest, ReportsACallbackThatThrowsNoException) {
  const Leader leader = locks.leader("k", [](const std::stop_token&, std::uint64_t) { throw 42; });
  ASSERT_TRUE(recorder.await(Kind::hidden_error));
  EXPECT_EQ(recorder.of(Kind::hidden_error)[0].text,
            "the callback of the Leader threw: something that is not a std::exception");
}

TEST_F(LeaderTest, DestructionEndsACampaign) {
  Hold hold = locks.lock("k").acquire(forever);
  {
    const Leader leader = locks.leader("k", one_duty.callback());
    ASSERT_TRUE(recorder.await(Kind::waiting));
  }
  EXPECT_TRUE(recorder.await(Kind::cancelled));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(locks.list().empty());
  EXPECT_TRUE(one_duty.terms().empty());
}

TEST_F(LeaderTest, DestructionStopsTheCallbackAndReleases) {
  {
    const Leader leader = locks.leader("k", one_duty.callback());
    ASSERT_TRUE(one_duty.await_terms(1));
    one_duty.on_stop = [&] { EXPECT_EQ(locks.list().size(), 1U) << "released too early"; };
  }
  EXPECT_TRUE(one_duty.await_stops(1));
  EXPECT_FALSE(one_duty.runs());
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(LeaderTest, DestructionEndsAPause) {
  Leader leader = locks.leader("k", one_duty.callback(), {.pause = 1h, .longest_pause = 1h});
  ASSERT_TRUE(one_duty.await_terms(1));
  EXPECT_TRUE(leader.resign());
  EXPECT_TRUE(reaches(leader, LeaderState::pausing));
}

TEST_F(LeaderTest, TheCallbackMayResignAndAskForItsHealth) {
  std::atomic<const Leader*> self{nullptr};
  std::atomic<bool> was_leader{false}, resigned{false};
  std::mutex made;
  std::unique_lock lock(made);
  Leader leader = locks.leader("k", [&](const std::stop_token& stop, std::uint64_t term) {
    const std::lock_guard wait(made);
    was_leader = self.load()->is_leader() && self.load()->term() == term;
    resigned = const_cast<Leader*>(self.load())->resign();
    EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
  });
  self = &leader;
  lock.unlock();
  EXPECT_TRUE(reaches(leader, LeaderState::pausing));
  EXPECT_TRUE(was_leader);
  EXPECT_TRUE(resigned);
}

TEST_F(LeaderTest, EndsWhenItsLocksAreClosed) {
  const Leader leader = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(one_duty.await_terms(1));
  locks.close(0ms);
  ASSERT_TRUE(one_duty.await_stops(1));
  EXPECT_FALSE(leader.is_leader());
  ASSERT_TRUE(reaches(leader, LeaderState::pausing));
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(1s);
  EXPECT_TRUE(reaches(leader, LeaderState::ended));
  EXPECT_NE(leader.health().trouble.find("closed"), std::string::npos) << leader.health().trouble;
}

TEST(LeaderMany, OneLeadsAtATimeAndTermsRise) {
  const Locks locks = Locks::connect("memory:");
  std::atomic<int> leading{0}, overlaps{0}, falls{0}, terms{0};
  std::atomic<std::uint64_t> last{0};
  const Leader::Callback callback = [&](const std::stop_token&, std::uint64_t term) {
    if (leading.fetch_add(1) != 0) ++overlaps;
    if (last.exchange(term) >= term) ++falls;
    ++terms;
    --leading;
  };
  std::vector<std::unique_ptr<Leader>> leaders;
  for (int number = 0; number < 8; ++number) {
    leaders.push_back(
        std::unique_ptr<Leader>(new Leader(locks.leader("k", callback, {.pause = 1ms}))));
  }
  EXPECT_TRUE(eventually([&] { return terms >= 500; }));
  for (const auto& leader : leaders) EXPECT_GT(leader->term(), 0U) << "one was never elected";
  leaders.clear();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(falls, 0);
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(LeaderTest, EndsItsTermWhenSomebodyAsksForItsLock) {
  const Leader leader = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(one_duty.await_terms(1));
  EXPECT_EQ(locks.revoke("k"), 1U);
  EXPECT_TRUE(recorder.await(Kind::term_ended));
  EXPECT_TRUE(reaches(leader, LeaderState::pausing));
  EXPECT_EQ(recorder.count(Kind::deposed), 0U);
  EXPECT_EQ(recorder.count(Kind::revoked), 1U);
  EXPECT_FALSE(locks.inspect("k").locked);
}

}  // namespace
}  // namespace latchkey
