// The turns of the process queue: who may take a lock for which others wait.
#include <gtest/gtest.h>

#include <vector>

#include "memory/lock_table.hpp"

namespace latchkey::detail {
namespace {

using std::chrono::milliseconds;
using Kind = Outcome::Kind;

constexpr milliseconds turn{1};

struct Listener final : Subscriber {
  void notify(const Notification& notification) noexcept override {
    kinds.push_back(notification.kind);
    last = notification.id;
  }
  std::vector<Notification::Kind> kinds;
  HoldId last;
};

/// Three processes that want one key, at a time that the test sets.
class Turns : public ::testing::Test {
 protected:
  struct Process {
    std::uint64_t space;
    Listener listener{};
    std::uint64_t last = 0;
  };

  Request request(Verb verb, const HoldId& id, LockType type = LockType::WRITE) {
    Request made;
    made.verb = verb;
    made.key = "k";
    made.type = type;
    made.id = id;
    made.lease = milliseconds(30'000);
    made.queues = verb == Verb::acquire || verb == Verb::subscribe;
    return made;
  }
  HoldId acquire(Process& by, Kind expected, LockType type = LockType::WRITE) {
    const HoldId id{{by.space, 0}, ++by.last};
    EXPECT_EQ(table.apply(request(Verb::acquire, id, type), now).kind, expected);
    return id;
  }
  /// Waits in line, and listens.
  HoldId wait(Process& by) {
    table.apply(request(Verb::subscribe, {{by.space, 0}, 0}), now, &by.listener);
    return acquire(by, Kind::busy);
  }
  void release(const HoldId& id) {
    EXPECT_EQ(table.apply(request(Verb::release, id), now).kind, Kind::granted);
  }

  LockTable table{turn};
  Clock::time_point now{std::chrono::hours(1'000)};
  Process one{1}, two{2}, three{3};
};

TEST_F(Turns, AReleaseWithinATurnCallsTheFirstOnceAndLetsOthersTakeTheLock) {
  const HoldId held = acquire(one, Kind::granted);
  const HoldId waits = wait(two);
  release(held);
  EXPECT_EQ(two.listener.kinds, std::vector{Notification::Kind::released});
  EXPECT_EQ(two.listener.last, waits);
  for (int round = 0; round < 3; ++round) release(acquire(one, Kind::granted));
  EXPECT_EQ(two.listener.kinds.size(), 1U);
}

TEST_F(Turns, AReleaseAfterATurnHandsOver) {
  const HoldId held = acquire(one, Kind::granted);
  const HoldId waits = wait(two);
  release(held);
  const HoldId again = acquire(one, Kind::granted);
  now += turn;
  release(again);
  EXPECT_EQ(two.listener.kinds.back(), Notification::Kind::granted);
  EXPECT_EQ(two.listener.last, waits);
  acquire(one, Kind::busy);
}

TEST_F(Turns, AnAcquireAfterATurnHandsOver) {
  const HoldId held = acquire(one, Kind::granted);
  const HoldId waits = wait(two);
  release(held);
  now += turn;
  acquire(one, Kind::busy);
  EXPECT_EQ(two.listener.kinds.back(), Notification::Kind::granted);
  EXPECT_EQ(two.listener.last, waits);
}

TEST_F(Turns, TheEndOfATurnHandsOverAFreeLock) {
  const HoldId held = acquire(one, Kind::granted);
  wait(two);
  release(held);
  table.end_turn(*table.find("k", hash_key("k")), now);
  EXPECT_EQ(two.listener.kinds.back(), Notification::Kind::released);
  now += turn;
  table.end_turn(*table.find("k", hash_key("k")), now);
  EXPECT_EQ(two.listener.kinds.back(), Notification::Kind::granted);
}

TEST_F(Turns, AProcessThatIsHandedTheLockHasATurnOfItsOwn) {
  const HoldId held = acquire(one, Kind::granted);
  const HoldId waits = wait(two);
  wait(three);
  now += turn;
  release(held);
  release(waits);
  EXPECT_EQ(three.listener.kinds, std::vector{Notification::Kind::released});
  const HoldId again = acquire(two, Kind::granted);
  now += turn;
  release(again);
  EXPECT_EQ(three.listener.kinds.back(), Notification::Kind::granted);
}

TEST_F(Turns, TheFirstInLineThatTakesTheLockBeginsATurn) {
  const HoldId held = acquire(one, Kind::granted);
  const HoldId waits = wait(two);
  wait(three);
  now += turn / 2;
  release(held);
  EXPECT_EQ(table.apply(request(Verb::acquire, waits), now).kind, Kind::granted);
  now += turn / 2;
  release(waits);
  EXPECT_EQ(three.listener.kinds, std::vector{Notification::Kind::released});
}

TEST_F(Turns, AFirstThatLeavesIsReplacedByTheNext) {
  const HoldId held = acquire(one, Kind::granted);
  const HoldId waits = wait(two);
  const HoldId next = wait(three);
  release(held);
  Request leave = request(Verb::leave, waits);
  leave.queues = true;
  EXPECT_EQ(table.apply(leave, now).kind, Kind::granted);
  EXPECT_EQ(three.listener.kinds, std::vector{Notification::Kind::released});
  EXPECT_EQ(three.listener.last, next);
}

TEST_F(Turns, ATableWithoutTurnsHandsOverWithEachRelease) {
  LockTable plain;
  const HoldId held{{1, 0}, 1}, waits{{2, 0}, 1};
  plain.apply(request(Verb::acquire, held), now);
  plain.apply(request(Verb::subscribe, {{2, 0}, 0}), now, &two.listener);
  plain.apply(request(Verb::acquire, waits), now);
  plain.apply(request(Verb::release, held), now - turn);  // read by another thread
  EXPECT_EQ(two.listener.kinds, std::vector{Notification::Kind::granted});
}

}  // namespace
}  // namespace latchkey::detail
