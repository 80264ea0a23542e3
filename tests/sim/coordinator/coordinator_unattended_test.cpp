// Calls that no thread waits for: a coordinator tells their answers and is due for their ticks.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include <latchkey/testing/manual_clock.hpp>

#include "locks/coordinator/coordinator.hpp"

namespace latchkey::detail {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

/// Counts how often it is told.
struct CountingCompletion final : CallCompletion {
  void answered() noexcept override { ++count; }
  int count = 0;
};

/// One coordinator. Each event's actions are carried out by hand.
class UnattendedCall : public ::testing::Test {
 protected:
  UnattendedCall() {
    home_.key = "k";
    home_.start(shard_);
    unattended.completion = &completion;
  }
  ~UnattendedCall() override { home_.drop(); }

  template <class Bring>
  void bring(Bring&& event, const Call* caller = nullptr) {
    Actions actions;
    EventContext context(clock, actions);
    context.caller = caller;
    event(context);
    submitted.assign(actions.submits.begin(), actions.submits.end());
    woken.assign(actions.wakes.begin(), actions.wakes.end());
    actions.completed.notify_all();
  }

  void acquire(Call& call, std::chrono::milliseconds wait) {
    call.owner = Owner::make();
    call.wait = wait;
    call.start(clock.now());
    call.lease = 30s;
    bring([&](EventContext& context) { home_.acquire(call, context); }, &call);
    if (call.completion != nullptr) home_.attend(call);
  }
  void reply(Kind kind) {
    Outcome outcome;
    outcome.kind = kind;
    Request& request = *submitted.front();
    bring([&](EventContext& context) { home_.completed(request, outcome, context); });
  }
  void release(Call& call) {
    bring([&](EventContext& context) {
      home_.release(*call.hold, call.type, false, Clock::time_point::min(), nullptr, context);
    });
  }
  void tick() {
    bring([&](EventContext& context) { home_.tick(context); });
  }

  testing::ManualClock clock;
  CountingCompletion completion;
  Call unattended;
  std::vector<Request*> submitted;
  std::vector<Call*> woken;

  CoordinatorSettings settings_{};
  CoordinatorContext shard_{settings_, 1, 1};
  Coordinator home_;
};

TEST_F(UnattendedCall, GrantIsToldOnceAndWakesNobody) {
  acquire(unattended, 3s);
  EXPECT_EQ(completion.count, 0);
  reply(Kind::granted);
  EXPECT_EQ(unattended.answer, Answer::granted);
  EXPECT_EQ(completion.count, 1);
  EXPECT_TRUE(woken.empty());
  tick();
  EXPECT_EQ(completion.count, 1);
  release(unattended);
}

TEST_F(UnattendedCall, HandOffByAThreadIsTold) {
  Call thread;
  acquire(thread, 3s);
  reply(Kind::granted);
  acquire(unattended, 3s);
  EXPECT_EQ(unattended.answer, Answer::pending);
  release(thread);
  EXPECT_EQ(unattended.answer, Answer::granted);
  EXPECT_EQ(completion.count, 1);
  release(unattended);
}

TEST_F(UnattendedCall, HandOffToAThreadWakesIt) {
  Call thread;
  acquire(unattended, 3s);
  reply(Kind::granted);
  acquire(thread, 3s);
  release(unattended);
  EXPECT_EQ(thread.answer, Answer::granted);
  EXPECT_EQ(woken, std::vector<Call*>{&thread});
  release(thread);
}

TEST_F(UnattendedCall, CoordinatorIsDueAtTheEndOfTheWait) {
  Call thread;
  acquire(thread, 3s);
  reply(Kind::granted);
  acquire(unattended, 2s);
  EXPECT_LE(home_.due(), unattended.until);
  clock.advance(2s);
  tick();
  EXPECT_EQ(unattended.answer, Answer::busy);
  EXPECT_EQ(completion.count, 1);
  release(thread);
}

TEST_F(UnattendedCall, CoordinatorIsDueForTheNextPoll) {
  settings_.pushes = false;  // the waiter polls
  acquire(unattended, 60s);
  reply(Kind::busy);
  EXPECT_TRUE(submitted.empty());
  EXPECT_LE(home_.due(), clock.now() + 500ms);
  clock.advance(500ms);
  tick();
  ASSERT_EQ(submitted.size(), 1U);
  EXPECT_EQ(submitted.front()->verb, Verb::acquire);
}

TEST_F(UnattendedCall, CancellationIsTold) {
  acquire(unattended, 60s);
  bring([&](EventContext& context) { home_.cancel(unattended, context); });
  EXPECT_EQ(unattended.answer, Answer::cancelled);
  EXPECT_EQ(completion.count, 1);
  ASSERT_EQ(submitted.size(), 1U) << "the attempt that is under way is released behind it";
  EXPECT_EQ(submitted.front()->verb, Verb::release);
}

}  // namespace
}  // namespace latchkey::detail
