// The events of a backend that is down: attempts, releases and connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "memory/memory_backend.hpp"
#include "support/linked_backend.hpp"
#include "support/manual_locks.hpp"
#include "support/recorder.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;
using ::testing::ElementsAre;

class OutageTest : public ::testing::Test {
 protected:
  Locks make(std::vector<Connection> connections, Startup startup = Startup::require) {
    auto made = std::make_unique<tests::LinkedBackend>(faults, std::move(connections));
    backend = made.get();
    return Locks(std::move(made),
                 {.unavailable_after = 100ms, .startup = startup, .listener = &recorder});
  }
  void pay() {
    LOCKED("pay:{0}", LockType::REENTRANT, 50ms, 10s).in(locks).named("pay") AROUND(one){};
  }
  Event only(Kind kind) {
    EXPECT_TRUE(recorder.await(kind)) << to_string(kind);
    EXPECT_TRUE(locks.flush(tests::patience));
    const auto all = recorder.of(kind);
    EXPECT_EQ(all.size(), 1U) << to_string(kind);
    return all.empty() ? Event() : all.front();
  }
  std::vector<Kind> kinds() {
    EXPECT_TRUE(locks.flush(tests::patience));
    std::vector<Kind> all;
    for (const Event& event : recorder.events()) all.push_back(event.kind);
    return all;
  }

  const int one = 1;
  tests::Faults faults;
  tests::Recorder recorder;
  tests::LinkedBackend* backend = nullptr;
  Locks locks = make({{}});
};

TEST_F(OutageTest, AnAcquireWithoutAReplyIsAnEvent) {
  faults.silent = true;
  EXPECT_THROW(pay(), BackendUnavailable);
  const Event event = only(Kind::unavailable);
  EXPECT_EQ(event.key, "pay:1");
  EXPECT_EQ(event.method(), "pay");
  EXPECT_EQ(event.origin.key_template, "pay:{0}");
  EXPECT_EQ(event.text, "the line is dead");
  EXPECT_EQ(recorder.count(Kind::timeout), 0U);
}

TEST_F(OutageTest, ARefusedAcquireIsAnEvent) {
  faults.refusing = true;
  EXPECT_THROW(pay(), BackendRefused);
  EXPECT_EQ(only(Kind::refused).text, "not allowed");
}

TEST_F(OutageTest, AnUnconfirmedReleaseIsAnEventAndTheEndOfItsHold) {
  {
    const Hold hold = locks.lock("k").acquire(0ms, 10s);
    faults.silent = true;
  }
  const Event event = only(Kind::release_unconfirmed);
  EXPECT_EQ(event.key, "k");
  EXPECT_EQ(event.text, "the line is dead");
  faults.silent = false;
  // The release is repeated until it is answered, and then another gets in.
  EXPECT_NO_THROW(static_cast<void>(locks.lock("k").acquire(10s)));
  EXPECT_TRUE(locks.flush(tests::patience));
  EXPECT_EQ(recorder.count(Kind::release_unconfirmed), 1U);
  EXPECT_EQ(recorder.count(Kind::released), 1U) << "of the second hold only";
}

// The destructor reported the same failure once more, as an unlock_error.
TEST_F(OutageTest, AFailedReleaseThatCannotThrowIsOneEvent) {
  const auto errors = [&](auto&& release) {
    recorder.clear();
    release();
    faults.silent = false;
    EXPECT_TRUE(locks.flush(tests::patience));
    EXPECT_EQ(recorder.count(Kind::unlock_error), 0U);
    return recorder.count(Kind::release_unconfirmed);
  };
  EXPECT_EQ(errors([&] {
              const Hold hold = locks.lock("a").acquire(0ms, 10s);
              faults.silent = true;
            }),
            1U);
  EXPECT_EQ(errors([&] {
              Lock lock = locks.lock("b");
              lock.lock();
              faults.silent = true;
              lock.unlock();
            }),
            1U);
  EXPECT_EQ(errors([&] {
              const Hold both = locks.all_of({locks.lock("c"), locks.lock("d")}).acquire(0ms, 10s);
              faults.silent = true;
            }),
            2U)
      << "one for each key";
}

TEST_F(OutageTest, AnOutageIsReportedOnceAsLostAndOnceAsRestored) {
  pay();
  using Session = Notification::Kind;
  backend->notify(Session::link_up);  // something was missed: no return without a loss
  backend->notify(Session::link_down, {}, "the server closed the connection");
  backend->notify(Session::link_down, {}, "again");
  backend->notify(Session::link_up);
  backend->notify(Session::link_up);
  const Event lost = only(Kind::connection_lost);
  EXPECT_EQ(lost.text, "the server closed the connection");
  EXPECT_EQ(lost.backend, "linked");
  EXPECT_EQ(lost.server, "linked");
  EXPECT_EQ(lost.key, "");
  EXPECT_EQ(only(Kind::connection_restored).server, "linked");
}

TEST_F(OutageTest, OutagesOfEachServerAreReportedSeparately) {
  pay();
  using Session = Notification::Kind;
  backend->notify(Session::link_down, "a", "gone");
  backend->notify(Session::link_down, "b", "gone too");
  backend->notify(Session::link_up, "a");
  EXPECT_TRUE(locks.flush(tests::patience));
  EXPECT_EQ(recorder.count(Kind::connection_lost), 2U);
  EXPECT_EQ(only(Kind::connection_restored).server, "a");
}

TEST_F(OutageTest, ConnectionsAreReportedWhenTheLocksAreMade) {
  ASSERT_TRUE(locks.flush(tests::patience));
  recorder.clear();
  const Locks two = make({{"a", true, {}}, {"b", false, "nobody listens there"}});
  ASSERT_TRUE(two.flush(tests::patience));
  EXPECT_EQ(recorder.of(Kind::connected).at(0).server, "a");
  EXPECT_EQ(recorder.of(Kind::connection_lost).at(0).server, "b");
  EXPECT_EQ(recorder.of(Kind::connection_lost).at(0).text, "nobody listens there");
  two.lock("k").acquire(forever).release();
  backend->notify(Notification::Kind::link_up, "b");
  ASSERT_TRUE(two.flush(tests::patience));
  EXPECT_EQ(recorder.of(Kind::connection_restored).at(0).server, "b");
}

TEST_F(OutageTest, AServerThatWasAllowedToBeDownIsReportedAsConnectedOnceItIsUp) {
  ASSERT_TRUE(locks.flush(tests::patience));
  recorder.clear();
  const Locks two =
      make({{"a", false, "nobody listens there"}, {"b", false, {}}}, Startup::allow_down);
  two.lock("k").acquire(forever).release();
  using Session = Notification::Kind;
  backend->notify(Session::link_up, "a");
  backend->notify(Session::link_up, "a");
  ASSERT_TRUE(two.flush(tests::patience));
  EXPECT_EQ(only(Kind::connected).server, "a");
  EXPECT_EQ(recorder.count(Kind::connection_lost), 0U);
  EXPECT_EQ(recorder.count(Kind::connection_restored), 0U);
  backend->notify(Session::link_down, "a", "gone");
  backend->notify(Session::link_down, "b", "gone too");  // its connection was never reported
  backend->notify(Session::link_up, "b");
  ASSERT_TRUE(two.flush(tests::patience));
  EXPECT_EQ(recorder.count(Kind::connection_lost), 2U);
  EXPECT_EQ(recorder.of(Kind::connection_restored).at(0).server, "b");
  EXPECT_EQ(recorder.count(Kind::connected), 1U);
}

TEST_F(OutageTest, AListenerWithoutRoutineEventsReceivesErrorsAndConnections) {
  tests::Recorder terse(false);
  auto made = std::make_unique<tests::LinkedBackend>(faults, std::vector<Connection>{{}});
  tests::LinkedBackend& link = *made;
  const Locks quiet(std::move(made), {.listener = &terse});
  {
    const Hold hold = quiet.lock("k").acquire(0ms, 10s);
    faults.silent = true;
  }
  link.notify(Notification::Kind::link_down);
  EXPECT_THROW(static_cast<void>(quiet.lock("other").try_acquire()), BackendUnavailable);
  faults.silent = false;
  faults.refusing = true;
  EXPECT_THROW(static_cast<void>(quiet.lock("third").try_acquire()), BackendRefused);
  faults.refusing = false;
  link.notify(Notification::Kind::link_up);
  ASSERT_TRUE(quiet.flush(tests::patience));
  std::vector<Kind> all;
  for (const Event& event : terse.events()) all.push_back(event.kind);
  EXPECT_THAT(all, ElementsAre(Kind::release_unconfirmed, Kind::connection_lost, Kind::unavailable,
                               Kind::refused, Kind::connection_restored));
}

class AttemptsTest : public ::testing::Test, public tests::ManualLocks {};

TEST_F(AttemptsTest, EachEndsWithExactlyOneOutcome) {
  const auto one_of = [&](Kind outcome, auto&& attempt) {
    ASSERT_TRUE(locks.flush(tests::patience));
    recorder.clear();
    attempt();
    ASSERT_TRUE(locks.flush(tests::patience));
    std::size_t ends = 0;
    for (const Kind kind : {Kind::granted, Kind::timeout, Kind::busy, Kind::unavailable,
                            Kind::refused, Kind::cancelled, Kind::closed, Kind::would_deadlock}) {
      ends += recorder.count(kind);
    }
    EXPECT_EQ(recorder.count(Kind::attempt), 1U) << to_string(outcome);
    EXPECT_EQ(recorder.count(outcome), 1U) << to_string(outcome);
    EXPECT_EQ(ends, 1U) << to_string(outcome);
  };
  one_of(Kind::granted, [&] { static_cast<void>(locks.lock("k").try_acquire()); });
  const Hold read = locks.lock("k", LockType::READ).acquire(forever);
  one_of(Kind::would_deadlock, [&] {
    EXPECT_THROW(static_cast<void>(locks.lock("k", LockType::WRITE).try_acquire()), WouldDeadlock);
  });
  one_of(Kind::busy,
         [&] { EXPECT_FALSE(another().lock("k", LockType::WRITE).try_acquire().has_value()); });
  one_of(Kind::timeout, [&] {
    const auto skipping = clock.skip_waits();
    EXPECT_FALSE(another().lock("k", LockType::WRITE).try_acquire(1s).has_value());
  });
  std::stop_source stop;
  Attempt attempt;
  attempt.type = LockType::WRITE;
  attempt.wait = 1h;
  attempt.cancel = stop.get_token();
  one_of(Kind::cancelled, [&] {
    const std::jthread stopping([&] {
      EXPECT_TRUE(recorder.await(Kind::waiting));
      stop.request_stop();
    });
    EXPECT_THROW(static_cast<void>(another().acquire("k", attempt)), Cancelled);
  });
}

TEST_F(AttemptsTest, OnlyTimeSpentWaitingForOthersIsContended) {
  locks.lock("free").acquire(forever).release();
  const Hold hold = another().lock("k").acquire(0ms, 1h);
  const auto skipping = clock.skip_waits();
  EXPECT_FALSE(locks.lock("k").try_acquire(2s).has_value());
  ASSERT_TRUE(locks.flush(tests::patience));
  for (const Event& event : recorder.of(Kind::granted)) {
    EXPECT_FALSE(event.contended.has_value()) << event.key;
    EXPECT_EQ(event.count, 1U);
  }
  EXPECT_EQ(recorder.of(Kind::timeout).at(0).contended, 2s);
}

TEST_F(AttemptsTest, ALostHoldIsNotReportedAsReleasedToo) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  clock.advance(9'950ms);  // within the margin: the backend still holds it
  EXPECT_FALSE(hold.release());
  ASSERT_TRUE(locks.flush(tests::patience));
  EXPECT_EQ(recorder.count(Kind::lost), 1U);
  EXPECT_EQ(recorder.count(Kind::released), 0U);
}

TEST_F(OutageTest, AWouldDeadlockEventNamesTheMethodThatHolds) {
  locks = Locks::connect("memory:", {.listener = &recorder});
  LOCKED("k:{0}", LockType::READ).in(locks).named("outer") AROUND(one) {
    Lock write = locks.lock("k:1", LockType::WRITE);
    EXPECT_THROW(static_cast<void>(write.try_acquire()), WouldDeadlock);
  };
  EXPECT_THAT(only(Kind::would_deadlock).text, ::testing::StartsWith("outer"));
}

/// The memory backend. The first unsubscribe finds no memory to be sent.
class ForgetfulBackend final : public Backend {
 public:
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return inner_->capabilities();
  }
  [[nodiscard]] std::string describe() const override { return "forgetful"; }
  void submit(std::span<Request* const> requests, Sink& sink) override {
    for (const Request* const request : requests) {
      if (request->verb == Verb::unsubscribe && unsubscribes++ == 0) throw std::bad_alloc();
    }
    inner_->submit(requests, sink);
  }
  void drive(Parker& parker, Clock::time_point until) override { inner_->drive(parker, until); }

  std::atomic<int> unsubscribes{0};

 private:
  std::unique_ptr<Backend> inner_ = detail::make_memory_backend("memory:forgetful", {});
};

TEST(Outage, AnUnsubscribeThatFailedForLackOfMemoryIsSentAgain) {
  const Locks others = Locks::connect("memory:forgetful");
  auto made = std::make_unique<ForgetfulBackend>();
  const ForgetfulBackend& backend = *made;
  const Locks locks(std::move(made));
  Hold held = others.lock("k").acquire(forever);
  EXPECT_FALSE(locks.lock("k").try_acquire(20ms).has_value());
  EXPECT_TRUE(tests::eventually([&] { return backend.unsubscribes == 2; }));
  EXPECT_TRUE(held.release());
}

}  // namespace
}  // namespace latchkey
// tidy: long-file because the events of an outage are one story
