// The fields of each event: call site, durations, holder; and several listeners.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/listeners.hpp>
#include <latchkey/locks.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

class EventsTest : public ::testing::Test, public tests::ManualLocks {
 protected:
  Event first(Kind kind) {
    EXPECT_TRUE(recorder.await(kind)) << to_string(kind);
    const auto all = recorder.of(kind);
    return all.empty() ? Event() : all.front();
  }
};

template <class Body>
void deposit(const Locks& locks, int id, Body&& body) {
  LOCKED("account:{id}", LockType::WRITE, 3s, 10s).in(locks).named("deposit") AROUND(id) {
    body();
  };
}

TEST_F(EventsTest, OfSeveralKeysCarryTheCallSiteToo) {
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {  // in one step, and one by one
    LOCKED(KEYS("a", "b"), type, 3s, 10s).in(locks).named("transfer") AROUND(){};
  }
  EXPECT_TRUE(recorder.await(Kind::granted, 4));
  for (const Event& event : recorder.of(Kind::granted)) EXPECT_EQ(event.method(), "transfer");
}

/// Checks the events of acquires of "a" and "b" by four threads that are in each other's way. Each
/// call takes both in one step first, gives back what it got, and continues one by one.
void expect_no_event_of_an_inner_call(const Locks& locks, tests::Recorder& recorder,
                                      LockType type) {
  constexpr std::size_t threads = 4, rounds = 50, keys = 2;
  {
    std::vector<std::jthread> callers;
    for (std::size_t caller = 0; caller < threads; ++caller) {
      callers.emplace_back([&] {
        for (std::size_t round = 0; round < rounds; ++round) {
          LOCKED(KEYS("a", "b"), type, 60s, 30s).in(locks)AROUND() { std::this_thread::yield(); };
        }
      });
    }
  }
  ASSERT_TRUE(locks.flush(60s));
  constexpr std::size_t all = threads * rounds * keys;
  EXPECT_EQ(recorder.count(Kind::attempt), all);
  EXPECT_EQ(recorder.count(Kind::granted), all);
  EXPECT_EQ(recorder.count(Kind::released), all);
  EXPECT_EQ(recorder.count(Kind::lost), 0U);
  for (const Kind kind : {Kind::timeout, Kind::busy, Kind::unavailable, Kind::cancelled}) {
    EXPECT_EQ(recorder.count(kind), 0U) << to_string(kind);
  }
  std::size_t contended = 0;
  for (const Event& event : recorder.of(Kind::granted)) contended += event.contended ? 1U : 0U;
  EXPECT_EQ(recorder.count(Kind::waiting), contended) << "the gauge of waiters must return to zero";
}

TEST(MultiKeyEvents, ContendedCallsThatAreGrantedReportNoFailure) {
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    tests::Recorder recorder;
    const Locks locks = Locks::connect("memory:", {.listener = &recorder});
    expect_no_event_of_an_inner_call(locks, recorder, type);
  }
}

TEST_F(EventsTest, OfSeveralKeysEndOnceWithWhatTheCallMet) {
  const Hold hold = another().lock("b").acquire(forever);
  const auto skipping = clock.skip_waits();
  EXPECT_THROW((LOCKED(KEYS("a", "b"), LockType::REENTRANT, 3s, 10s).in(locks)AROUND(){}),
               LockTimeout);
  EXPECT_FALSE(locks.all_of({locks.lock("a"), locks.lock("b")}).try_acquire(0ms));
  ASSERT_TRUE(locks.flush(10s));
  const auto timeouts = recorder.of(Kind::timeout);
  ASSERT_EQ(timeouts.size(), 1U);
  EXPECT_EQ(timeouts[0].key, "b");
  EXPECT_EQ(timeouts[0].origin.key_template, "a, b") << "the template that the site announces";
  EXPECT_GE(timeouts[0].waited, 3s) << "since the call began";
  EXPECT_EQ(recorder.count(Kind::busy), 1U) << "with a wait of 0 the call is only skipped";
  EXPECT_EQ(recorder.count(Kind::attempt), recorder.count(Kind::granted) + 2);
  EXPECT_EQ(recorder.count(Kind::granted), 1U) << "theirs: what was given back was nobody's";
  EXPECT_EQ(recorder.count(Kind::released), 0U);
}

// A call of KEYS that got no answer was a failure for each key that it had waited for.
TEST_F(EventsTest, OfSeveralKeysTellOfOneFailure) {
  std::optional<Hold> a = another().lock("a").acquire(forever);
  const Hold b = another().lock("b").acquire(forever);
  auto call = std::async(std::launch::async, [&] {
    static_cast<void>(locks.with_owner(Owner::make())
                          .all_of({locks.lock("a"), locks.lock("b")})
                          .acquire(3s, 10s));
  });
  ASSERT_TRUE(recorder.await(Kind::waiting));
  a.reset();
  ASSERT_TRUE(recorder.await(Kind::waiting, 2));
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(3s);
  EXPECT_THROW(call.get(), LockTimeout);
  ASSERT_TRUE(locks.flush(10s));
  ASSERT_EQ(recorder.count(Kind::timeout), 1U);
  EXPECT_EQ(recorder.of(Kind::timeout)[0].key, "b");
  ASSERT_EQ(recorder.count(Kind::cancelled), 1U) << "it ends what `waiting` began";
  EXPECT_EQ(recorder.of(Kind::cancelled)[0].key, "a");
}

TEST_F(EventsTest, OfATryWithoutAWaitIsBusyAndNoTimeout) {
  const Hold hold = another().lock("k").acquire(forever);
  EXPECT_FALSE(locks.lock("k").try_acquire());
  const Event busy = first(Kind::busy);
  EXPECT_EQ(busy.key, "k");
  EXPECT_NE(busy.holder, "");
  EXPECT_EQ(recorder.count(Kind::timeout), 0U);
}

TEST_F(EventsTest, CarryTheCallSite) {
  deposit(locks, 1, [] {});
  EXPECT_THROW(deposit(locks, 2, [&] { clock.advance(10s); }), LockLost);
  const Hold hold = another().lock("account:3").acquire(forever);
  const auto skipping = clock.skip_waits();
  EXPECT_THROW(deposit(locks, 3, [] {}), LockTimeout);
  for (const Kind kind : {Kind::released, Kind::lost, Kind::waiting, Kind::timeout}) {
    const Event event = first(kind);
    EXPECT_EQ(event.method(), "deposit") << to_string(kind);
    EXPECT_EQ(event.origin.key_template, "account:{id}");
    ASSERT_NE(event.origin.site, nullptr);
    EXPECT_TRUE(event.origin.site->where().starts_with("deposit (events_test.cpp:"));
    EXPECT_EQ(event.owner, Owner::this_thread().number());
  }
  const auto granted = recorder.of(Kind::granted);
  ASSERT_EQ(granted.size(), 3U);
  EXPECT_EQ(granted[0].method(), "deposit");
  EXPECT_EQ(granted[2].method(), "") << "no LOCKED asked";
  EXPECT_EQ(granted[2].origin.site, nullptr);
}

TEST_F(EventsTest, CarryDurations) {
  deposit(locks, 1, [&] { clock.advance(4s); });
  const Event granted = first(Kind::granted);
  EXPECT_EQ(granted.waited, 0s);
  EXPECT_EQ(granted.lease, 10s);
  EXPECT_EQ(granted.left, 9'900ms) << "less the margin";
  const Event released = first(Kind::released);
  EXPECT_EQ(released.held, 4s);
  EXPECT_EQ(released.lease, 10s);
  EXPECT_EQ(released.left, 5'900ms);
}

TEST_F(EventsTest, OfALossHaveNoRemainingTime) {
  EXPECT_THROW(deposit(locks, 1, [&] { clock.advance(12s); }), LockLost);
  const Event lost = first(Kind::lost);
  EXPECT_EQ(lost.held, 12s);
  EXPECT_EQ(lost.left, 0s);
}

TEST_F(EventsTest, OfARenewalCarryItsDelay) {
  const Hold hold = locks.lock("k").acquire(forever);
  pass(10s);
  pass(13s);
  ASSERT_TRUE(recorder.await(Kind::renewed, 2));
  const auto renewed = recorder.of(Kind::renewed);
  EXPECT_EQ(renewed[0].late, 0s);
  EXPECT_EQ(renewed[1].late, 3s);
  EXPECT_EQ(renewed[1].lease, 30s);
  EXPECT_EQ(renewed[1].left, 29'700ms);
}

TEST_F(EventsTest, NameTheHolder) {
  deposit(locks, 1, [&] {
    clock.advance(250ms);
    const auto skipping = clock.skip_waits();
    EXPECT_FALSE(another().lock("account:1").try_acquire(1s));
  });
  const std::string who = "owner " + std::to_string(Owner::this_thread().number());
  for (const Kind kind : {Kind::waiting, Kind::timeout}) {
    const Event event = first(kind);
    EXPECT_TRUE(event.holder.starts_with("deposit (events_test.cpp:")) << event.holder;
    EXPECT_NE(event.holder.find(who), std::string::npos) << event.holder;
    const bool began = kind == Kind::waiting;
    EXPECT_TRUE(event.holder.ends_with(began ? ", for 250 ms" : ", for 1250 ms")) << event.holder;
  }
}

TEST_F(EventsTest, NameNoHolderWhileHoldForKeepsTheLock) {
  const auto kept = [&] { LOCKED("kept").in(locks).hold_for(5s) AROUND(){}; };
  kept();
  EXPECT_FALSE(another().lock("kept").try_acquire());
  EXPECT_EQ(first(Kind::busy).holder, "nobody: it is kept, or being given back");
}

TEST_F(EventsTest, AllArriveBeforeFlushReturns) {
  for (int round = 0; round < 100; ++round) deposit(locks, round, [] {});
  ASSERT_TRUE(locks.flush(10s));
  EXPECT_EQ(recorder.count(Kind::released), 100U);
  EXPECT_TRUE(Locks::connect("memory:").flush(0ms)) << "nobody listens";
}

TEST(ListenersTest, AllReceiveEveryEventThoughOneThrows) {
  class Throwing final : public Listener {
   public:
    void on_event(const Event&) override { throw std::runtime_error("no"); }
    [[nodiscard]] bool wants_everything() const noexcept override { return false; }
  } throwing;
  tests::Recorder one, other;
  Listeners all{&throwing, &one, nullptr, &other};
  EXPECT_TRUE(all.wants_everything());
  EXPECT_FALSE(Listeners({&throwing}).wants_everything());
  const Locks locks = Locks::connect("memory:", {.listener = &all});
  locks.lock("k").acquire(forever).release();
  ASSERT_TRUE(locks.flush(10s));
  EXPECT_EQ(one.count(Kind::released), 1U);
  EXPECT_EQ(other.count(Kind::granted), 1U);
}

std::string content(const char* name) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("/tests/") + 1) + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A page that lists all events but one is worse than none.
TEST(DocsEvents, EveryEventHasARow) {
  const std::string text = content("docs/events.md");
  int kinds = 0;
  for (int number = 0;; ++number, ++kinds) {
    const std::string_view name = to_string(static_cast<Kind>(number));
    if (name == "?") break;
    EXPECT_NE(text.find("| `" + std::string(name) + "` | "), std::string::npos) << name;
  }
  EXPECT_EQ(kinds, 37);
}

std::string paged;

void page(std::string what, std::string_view method) {
  paged = std::move(what) + std::string(method);
}

// clang-format off: the page's own lines
class Alarm final : public latchkey::Listener {
 public:
  void on_event(const latchkey::Event& event) override {
    if (event.kind != latchkey::Event::Kind::lost) return;
    page("lost " + event.key + " in ", event.method());
  }
  bool wants_everything() const noexcept override { return false; }  // no routine
};
// clang-format on

TEST(DocsEvents, TheListenerOfThePageReceivesEvents) {
  const std::string text = content("docs/events.md"),
                    source = content("tests/unit/locks/events_test.cpp");
  const std::size_t from = text.find("```cpp\n") + 7;
  EXPECT_NE(source.find(text.substr(from, text.find("```", from) - from)), std::string::npos);
  latchkey::testing::ManualClock clock;
  Alarm alarm;
  const Locks locks = Locks::connect("memory:", {.clock = &clock, .listener = &alarm});
  EXPECT_THROW(deposit(locks, 1, [&] { clock.advance(10s); }), LockLost);
  ASSERT_TRUE(locks.flush(10s));
  EXPECT_EQ(paged, "lost account:1 in deposit");
}

}  // namespace
}  // namespace latchkey
