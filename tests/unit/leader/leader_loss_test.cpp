// Leaders that lose their lock: told before the deadline, and followed only after it.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <latchkey/leader.hpp>
#include <latchkey/testing/mock_backend.hpp>

#include "support/manual_locks.hpp"
#include "unit/leader/duty.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;
using latchkey::testing::MockBackend;
using ::testing::_;
using ::testing::NiceMock;
using ::testing::Return;
using tests::Duty;
using tests::eventually;

/// Two processes with a clock in common.
class LeaderLossTest : public ::testing::Test {
 protected:
  latchkey::testing::ManualClock clock;
  tests::Recorder recorder, other_recorder;
  Locks locks = Locks::connect("memory:leaders", {.clock = &clock, .listener = &recorder});
  Locks elsewhere =
      Locks::connect("memory:leaders", {.clock = &clock, .listener = &other_recorder});
  Duty duty, other_duty;
};

TEST_F(LeaderLossTest, AFrozenLeaderIsNoLeaderWhenTheNextOneIsElected) {
  duty.lingers = true;
  const Leader leader = locks.leader("k", duty.callback());
  ASSERT_TRUE(duty.await_terms(1));
  bool both = false;
  const Leader next = elsewhere.leader("k", [&](std::stop_token stop, std::uint64_t term) {
    both = leader.is_leader();
    other_duty.callback()(std::move(stop), term);
  });
  ASSERT_TRUE(other_recorder.await(Kind::waiting));
  ASSERT_TRUE(clock.await_sleepers(3));  // the timer of the leader, the leader and the next one
  clock.advance(31s);                    // nobody of the process ran for so long
  EXPECT_FALSE(leader.is_leader());
  EXPECT_EQ(leader.since(), std::nullopt);
  ASSERT_TRUE(other_duty.await_terms(1));
  EXPECT_FALSE(both);
  EXPECT_GT(next.term(), leader.term());
  ASSERT_TRUE(recorder.await(Kind::deposed));
  EXPECT_EQ(recorder.of(Kind::deposed)[0].text, "its lock was lost");
  EXPECT_EQ(recorder.of(Kind::deposed)[0].fencing_token, leader.term());
  ASSERT_TRUE(duty.await_stops(1));
  duty.finish();
}

TEST_F(LeaderLossTest, AForcedReleaseIsNoticedAtTheNextCheck) {
  const Leader leader = locks.leader("k", duty.callback());
  ASSERT_TRUE(duty.await_terms(1));
  ASSERT_TRUE(clock.await_sleepers(2));
  ASSERT_TRUE(elsewhere.force_release("k"));
  clock.advance(10s);
  ASSERT_TRUE(duty.await_stops(1));
  EXPECT_FALSE(leader.is_leader());
  ASSERT_TRUE(recorder.await(Kind::deposed));
}

TEST_F(LeaderLossTest, ALockThatWasHandedOverIsRenewedToTheWholeLeaseFirst) {
  Leader leader = locks.leader("k", duty.callback());
  ASSERT_TRUE(duty.await_terms(1));
  const Leader next = elsewhere.leader("k", other_duty.callback());
  ASSERT_TRUE(other_recorder.await(Kind::waiting));
  EXPECT_TRUE(leader.resign());
  ASSERT_TRUE(other_duty.await_terms(1));
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(4s);  // a release grants for 3 s
  EXPECT_TRUE(next.is_leader());
  // And by the watchdog from then on. In small steps: its thread follows the clock in its own time.
  ASSERT_TRUE(tests::eventually([&] {
    clock.advance(20ms);
    return other_recorder.count(Kind::renewed) >= 5;
  }));
  EXPECT_TRUE(next.is_leader());
  EXPECT_EQ(next.health().state, LeaderState::leading);
  EXPECT_EQ(other_recorder.count(Kind::deposed), 0U);
}

/// A leader whose backend no longer answers.
class LeaderOutageTest : public ::testing::Test {
 protected:
  latchkey::testing::ManualClock clock;
  tests::Recorder recorder;
  Duty duty;
  NiceMock<MockBackend>* backend = nullptr;

  Locks mocked() {
    auto made = std::make_unique<NiceMock<MockBackend>>(clock);
    backend = made.get();
    ON_CALL(*backend, renew(_)).WillByDefault(Return(MockBackend::unknown()));
    ON_CALL(*backend, verify(_)).WillByDefault(Return(MockBackend::unknown()));
    return Locks(std::move(made), {.clock = &clock, .listener = &recorder});
  }
  /// Advances in steps, so that all threads see each second.
  template <class Condition>
  bool pass_until(Condition&& holds, Clock::duration most) {
    for (const auto end = clock.now() + most; clock.now() < end && !holds(); clock.advance(100ms)) {
      clock.await_sleepers(2, 100ms);
    }
    return eventually(holds);
  }
};

TEST_F(LeaderOutageTest, TheCallbackIsStoppedBeforeTheDeadline) {
  const Locks locks = mocked();
  const auto sent = clock.now();
  duty.lingers = true;
  Clock::time_point stopped;
  duty.on_stop = [&] { stopped = clock.now(); };
  const Leader leader = locks.leader("k", duty.callback(), {.stop_before = 5s});
  ASSERT_TRUE(duty.await_terms(1));
  ASSERT_TRUE(pass_until([&] { return leader.health().state == LeaderState::stopping; }, 29s));
  ASSERT_TRUE(duty.await_stops(1));
  const auto deadline = sent + 30s - 300ms;
  EXPECT_GE(stopped, deadline - 5s);
  EXPECT_LT(stopped, deadline - 4s);
  EXPECT_TRUE(leader.is_leader()) << "until its deadline";
  ASSERT_TRUE(recorder.await(Kind::deposed));
  EXPECT_EQ(recorder.of(Kind::deposed)[0].text, "its lock could not be renewed in time");
  clock.advance(deadline - clock.now() - 1ms);
  EXPECT_TRUE(leader.is_leader());
  clock.advance(1ms);
  EXPECT_FALSE(leader.is_leader());
  duty.finish();
}

TEST_F(LeaderOutageTest, ARenewalThatArrivesAfterTheStopChangesNothing) {
  const Locks locks = mocked();
  duty.lingers = true;
  const Leader leader = locks.leader("k", duty.callback());
  ASSERT_TRUE(duty.await_terms(1));
  ASSERT_TRUE(pass_until([&] { return leader.health().state == LeaderState::stopping; }, 29s));
  ON_CALL(*backend, renew(_)).WillByDefault(Return(MockBackend::granted()));
  ASSERT_TRUE(pass_until([&] { return recorder.count(Kind::renewed) > 0; }, 20s));
  EXPECT_EQ(leader.health().state, LeaderState::stopping);
  duty.finish();
  EXPECT_TRUE(eventually([&] { return leader.health().state == LeaderState::pausing; }));
}

TEST_F(LeaderOutageTest, ACampaignWithoutAnAnswerIsRepeatedAfterAPause) {
  const Locks locks = mocked();
  EXPECT_CALL(*backend, acquire(_)).WillRepeatedly(Return(MockBackend::refused("not allowed")));
  const Leader leader = locks.leader("k", duty.callback(), {.pause = 1s, .longest_pause = 2s});
  for (std::size_t campaigns = 1; campaigns <= 3; ++campaigns) {
    ASSERT_TRUE(recorder.await(Kind::refused, campaigns));
    ASSERT_TRUE(eventually([&] { return leader.health().state == LeaderState::pausing; }));
    EXPECT_NE(leader.health().trouble.find("not allowed"), std::string::npos);
    if (campaigns == 3) {
      EXPECT_CALL(*backend, acquire(_)).WillRepeatedly(Return(MockBackend::granted(7)));
    }
    ASSERT_TRUE(clock.await_sleepers(1));
    clock.advance(2s);
  }
  ASSERT_TRUE(duty.await_terms(1));
  EXPECT_EQ(leader.term(), 7U);
  EXPECT_EQ(leader.health().trouble, "") << "the trouble is over";
}

TEST_F(LeaderOutageTest, ATermThatDoesNotRiseIsNoTerm) {
  const Locks locks = mocked();
  EXPECT_CALL(*backend, acquire(_)).WillRepeatedly(Return(MockBackend::granted(7)));
  Leader leader = locks.leader("k", duty.callback());
  ASSERT_TRUE(duty.await_terms(1));
  EXPECT_TRUE(leader.resign());
  ASSERT_TRUE(eventually([&] { return leader.health().state == LeaderState::pausing; }));
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(1s);
  ASSERT_TRUE(eventually([&] { return !leader.health().trouble.empty(); }));
  EXPECT_EQ(leader.health().trouble,
            "the backend granted a term that is not larger than the last one");
  EXPECT_EQ(duty.terms().size(), 1U);
}

}  // namespace
}  // namespace latchkey
