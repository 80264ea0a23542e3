// Listeners run on their own thread, and nothing that they do affects a lock.
#include <latchkey/listener.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

/// Stands still within its first event until it is opened.
class Blocking final : public Listener {
 public:
  void on_event(const Event& event) override {
    entered_.store(true);
    opened_.wait();
    recorder.on_event(event);
  }
  void open() { open_.set_value(); }
  bool entered() const { return entered_; }

  tests::Recorder recorder;

 private:
  std::atomic<bool> entered_{false};
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

TEST(ListenerTest, ReceivesEventsInOrder) {
  tests::Recorder recorder;
  const Locks locks = Locks::connect("memory:", {.listener = &recorder});
  locks.lock("k", LockType::FENCED).acquire(0ms, 10s).release();
  ASSERT_TRUE(recorder.await(Kind::released));
  const auto granted = recorder.of(Kind::granted);
  ASSERT_EQ(granted.size(), 1U);
  EXPECT_EQ(granted[0].key, "k");
  EXPECT_EQ(granted[0].type, LockType::FENCED);
  EXPECT_EQ(granted[0].owner, Owner::this_thread().number());
  EXPECT_TRUE(granted[0].fencing_token.has_value());
  EXPECT_NE(granted[0].ticket, 0U);
  EXPECT_EQ(recorder.of(Kind::released)[0].fencing_token, granted[0].fencing_token);
  EXPECT_EQ(recorder.count(Kind::attempt), 1U);
  EXPECT_EQ(recorder.threads().size(), 1U);
  EXPECT_FALSE(recorder.threads().contains(std::this_thread::get_id()));
}

TEST(ListenerTest, ReceivesOneEventForEveryAcquireThatWaits) {
  tests::Recorder recorder;
  const Locks locks = Locks::connect("memory:waits", {.listener = &recorder});
  const Locks elsewhere = Locks::connect("memory:waits");
  const auto wait_behind = [&](Hold held, std::size_t waits) {
    std::jthread release([&] {
      EXPECT_TRUE(recorder.await(Kind::waiting, waits));
      held.release();
    });
    const Hold mine = locks.with_owner(Owner::make()).lock("k").acquire(20s);
  };
  wait_behind(elsewhere.lock("k").acquire(forever), 1);  // the backend says busy
  wait_behind(locks.with_owner(Owner::make()).lock("k").acquire(forever),
              2);  // somebody of this process
  ASSERT_TRUE(recorder.await(Kind::released, 3));
  EXPECT_EQ(recorder.count(Kind::waiting), 2U);
}

TEST(ListenerTest, ThatWantsLossesOnlyReceivesNothingElse) {
  latchkey::testing::ManualClock clock;
  tests::Recorder recorder(false);
  const Locks locks = Locks::connect("memory:", {.clock = &clock, .listener = &recorder});
  locks.lock("k").acquire(forever).release();
  const Hold hold = locks.lock("k").acquire(0ms, 10s);
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(10s);
  ASSERT_TRUE(recorder.await(Kind::lost));
  locks.lock("other").unlock();
  ASSERT_TRUE(recorder.await(Kind::unlock_error));
  EXPECT_EQ(recorder.count(Kind::attempt) + recorder.count(Kind::granted), 0U);
}

// It did nothing, and nothing said so: the key stayed locked for as long as its thread lived.
TEST(ListenerTest, WithoutOneTheFirstUnlockOnAnotherThreadIsTold) {
  const Locks locks = Locks::connect("memory:");
  Lock lock = locks.lock("k");
  lock.lock();
  std::ostringstream told;
  std::streambuf* const before = std::clog.rdbuf(told.rdbuf());
  std::thread([&] {
    lock.unlock();
    lock.unlock();
  }).join();
  lock.unlock();
  std::clog.rdbuf(before);
  EXPECT_EQ(
      told.str(),
      "latchkey: an unlock failed: the REENTRANT lock 'k' on memory: is not held by this owner "
      "by lock(): nothing to unlock; only Options::listener learns of more of them\n");
}

// The call returns the result of its body.
TEST(ListenerTest, WithoutOneTheFirstUnconfirmedReleaseOfADecoratedCallIsTold) {
  tests::Faults faults;
  const Locks locks(std::make_unique<tests::FailingBackend>(faults));
  std::ostringstream told;
  std::streambuf* const before = std::clog.rdbuf(told.rdbuf());
  const int result = LOCKED("k", LockType::REENTRANT, 1ms, 10s).in(locks)AROUND() {
    faults.silent = true;
    return 1;
  };
  std::clog.rdbuf(before);
  EXPECT_EQ(result, 1);
  EXPECT_TRUE(told.str().starts_with("latchkey: an unlock failed: ")) << told.str();
}

TEST(ListenerTest, ThatThrowsDisturbsNoCaller) {
  class Throwing final : public Listener {
   public:
    void on_event(const Event&) override {
      ++calls;
      throw std::runtime_error("no");
    }
    std::atomic<int> calls{0};
  } listener;
  const Locks locks = Locks::connect("memory:", {.listener = &listener});
  for (int round = 0; round < 10; ++round) locks.lock("k").acquire(forever).release();
  EXPECT_TRUE(tests::eventually([&] { return listener.calls == 30; }));
}

TEST(ListenerTest, ThatBlocksDelaysNoCallerAndReceivesTheNumberOfDroppedEvents) {
  Blocking listener;
  latchkey::testing::ManualClock clock;
  {
    const Locks locks = Locks::connect("memory:", {.clock = &clock, .listener = &listener});
    locks.lock("first").unlock();
    ASSERT_TRUE(tests::eventually([&] { return listener.entered(); }));
    Lock lock = locks.lock("k");
    for (int round = 0; round < 3'000; ++round) {
      lock.lock();
      lock.unlock();
    }
    std::vector<Hold> holds;  // losses while the queue is full
    for (int number = 0; number < 20; ++number) {
      holds.push_back(locks.lock("k" + std::to_string(number)).acquire(0ms, 10s));
    }
    ASSERT_TRUE(clock.await_sleepers(1));
    clock.advance(10s);
    for (Hold& hold : holds) EXPECT_FALSE(hold.release());
    for (int number = 0; number < 20; ++number) locks.lock("nobody's").unlock();
    listener.open();
  }  // the destructor waits until all events are delivered
  tests::Recorder& recorder = listener.recorder;
  EXPECT_EQ(recorder.count(Kind::lost), 20U);
  EXPECT_EQ(recorder.count(Kind::unlock_error), 21U);
  std::uint64_t sum = 0;
  for (const Event& note : recorder.of(Kind::dropped)) sum += note.count;
  for (const Kind kind : {Kind::attempt, Kind::granted, Kind::released, Kind::renewed}) {
    sum += recorder.count(kind);
  }
  EXPECT_EQ(sum, 3 * 3'000U + 2 * 20U + recorder.count(Kind::renewed));
  EXPECT_GE(recorder.count(Kind::dropped), 1U);
}

// Events after the dropped ones were reported before their number.
TEST(ListenerTest, ReceivesTheNumberOfDroppedEventsInTheirPlace) {
  Blocking listener;
  {
    const Locks locks = Locks::connect("memory:", {.listener = &listener});
    locks.lock("first").unlock();
    ASSERT_TRUE(tests::eventually([&] { return listener.entered(); }));
    for (int round = 0; round < 1'500; ++round) locks.lock("k").acquire(forever).release();
    listener.open();
  }
  const auto dropped = listener.recorder.of(Kind::dropped);
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped[0].count, 4'500U - 4'096U);
  EXPECT_EQ(dropped[0].text, "the listener was too slow");
  std::uint64_t missed = 0, new_holds = 0;
  for (const Event::Missed& each : dropped[0].missed) {
    missed += each.count;
    new_holds += each.new_holds;
    EXPECT_EQ(each.new_holds, each.kind == Kind::granted ? each.count : 0);
  }
  EXPECT_EQ(missed, dropped[0].count);
  EXPECT_GT(new_holds, 0U);
  EXPECT_TRUE(listener.recorder.last_was(Kind::dropped));
}

TEST(ListenerTest, ReceivesEverythingBeforeCloseReturnsAndNothingAfterwards) {
  auto listener = std::make_unique<tests::Recorder>();
  const Locks locks = Locks::connect("memory:", {.listener = listener.get()});
  Hold late = locks.lock("late").acquire(forever);
  for (int round = 0; round < 100; ++round) locks.lock("k").acquire(forever).release();
  locks.close(0ms);
  EXPECT_EQ(listener->count(Kind::released), 100U);
  EXPECT_EQ(listener->count(Kind::lost), 1U);
  listener.reset();
  EXPECT_FALSE(late.release());
  EXPECT_THROW(static_cast<void>(locks.lock("k").acquire(forever)), Closed);
}

TEST(ListenerTest, MayUseLocks) {
  class Using final : public Listener {
   public:
    void on_event(const Event& event) override {
      if (event.kind != Kind::released || event.key != "k") return;
      Lock lock = locks->lock("mine");
      const std::scoped_lock guard{lock};
      done.set_value();
    }
    const Locks* locks = nullptr;
    std::promise<void> done;
  } listener;
  const Locks locks = Locks::connect("memory:", {.listener = &listener});
  listener.locks = &locks;
  locks.lock("k").acquire(forever).release();
  EXPECT_EQ(listener.done.get_future().wait_for(tests::patience), std::future_status::ready);
}

}  // namespace
}  // namespace latchkey
