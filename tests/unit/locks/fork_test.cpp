// Forks in each state: the parent keeps its holds, the child owns nothing and can lock.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/child.hpp"
#include "support/event_counter.hpp"
#include "unit/locks/shared_store.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::Findings;
using tests::in_child;
using Kind = Event::Kind;

std::string space_of(const Locks& locks, std::string_view key) {
  return locks.inspect(key).holders.at(0).id.substr(0, 36);
}

/// The child's Locks are as good as new: exclusion, waiting, renewal, the timer, the notifier.
void expect_new_locks_work(Findings& findings, const Locks& locks,
                           const tests::EventCounter& counter) {
  Lock lock = locks.lock("child");
  {
    const std::scoped_lock guard{lock};
    CHILD_EXPECT(findings, locks.inspect("child").locked);
    std::thread([&] { CHILD_EXPECT(findings, !lock.try_lock_for(1ms)); }).join();
  }
  const std::size_t losses = counter.count(Kind::lost);
  Hold hold = locks.lock("child").acquire(forever, 30ms);
  std::thread([&] {
    const std::scoped_lock guard{lock};  // waits for a lease that is not renewed
  }).join();
  CHILD_EXPECT(findings, hold.lost());
  CHILD_EXPECT(findings, counter.await(Kind::lost, losses + 1));
  CHILD_EXPECT(findings, !hold.release());
}

class ForkTest : public ::testing::Test {
 protected:
  void expect_parent_holds(std::string_view key) {
    EXPECT_TRUE(locks->inspect(key).locked);
    EXPECT_FALSE(locks->with_owner(Owner::make()).lock(std::string(key)).try_lock());
  }

  tests::EventCounter counter;
  std::optional<Locks> locks = Locks::connect("memory:", {.listener = &counter});
};

TEST_F(ForkTest, ChildOfAnIdleParentLocks) {
  EXPECT_EQ(in_child([&](Findings& findings) {
              expect_new_locks_work(findings, *locks, counter);
              locks.reset();
            }),
            "");
  EXPECT_TRUE(locks->lock("k").try_lock());
  EXPECT_TRUE(locks->lock("k").release());
}

TEST_F(ForkTest, ForkWhileAHoldIsHeld) {
  std::optional<Hold> hold = locks->lock("k").acquire(forever);
  const std::stop_token token = hold->stop_token();
  const std::string ours = space_of(*locks, "k");
  EXPECT_EQ(in_child([&](Findings& findings) {
              CHILD_EXPECT(findings, hold->lost());
              CHILD_EXPECT(findings, hold->key() == "k");
              CHILD_EXPECT(findings, hold->remaining() == 0ms);
              CHILD_EXPECT(findings, hold->stop_token().stop_requested());
              CHILD_EXPECT(findings, !hold->extend(1min));
              CHILD_EXPECT(findings, !locks->lock("k").try_lock());
              CHILD_EXPECT(findings, !hold->release());
              CHILD_EXPECT(findings, !locks->lock("k").try_lock());
              const Hold mine = locks->lock("mine").acquire(forever);
              CHILD_EXPECT(findings, space_of(*locks, "mine") != ours);
              CHILD_EXPECT(findings, space_of(*locks, "k") == ours);
              expect_new_locks_work(findings, *locks, counter);
            }),
            "");
  expect_parent_holds("k");
  EXPECT_FALSE(token.stop_requested());
  EXPECT_TRUE(hold->release());
}

TEST_F(ForkTest, ForkWhileALockIsHeld) {
  Lock lock = locks->lock("k");
  const std::scoped_lock guard{lock};
  EXPECT_EQ(in_child([&](Findings& findings) {
              CHILD_EXPECT(findings, !lock.try_lock());  // no re-entry: it was the parent's
              try {
                lock.release();
                findings.expect(false, "it released what the parent holds");
              } catch (const NotOwner&) {
              }
              expect_new_locks_work(findings, *locks, counter);
            }),
            "");
  expect_parent_holds("k");
}

TEST_F(ForkTest, DestructorsInTheChildReleaseNothingOfTheParent) {
  const tests::SharedWord store;
  std::optional<Locks> shared{std::in_place, std::make_unique<tests::SharedStore>(store)};
  std::optional<Lock> lock = shared->lock("k");
  std::optional<std::unique_lock<Lock>> guard{std::in_place, *lock};
  std::optional<Hold> hold = lock->acquire(forever);
  const std::uint64_t holder = *store;
  EXPECT_NE(holder, 0U);
  EXPECT_EQ(in_child([&](Findings& findings) {
              CHILD_EXPECT(findings, !lock->try_lock());
              guard.reset();
              hold.reset();
              lock.reset();
              shared.reset();
              CHILD_EXPECT(findings, *store == holder);
            }),
            "");
  EXPECT_EQ(*store, holder);
  EXPECT_FALSE(hold->lost());
  hold.reset();
  guard.reset();
  EXPECT_EQ(*store, 0U);
}

TEST_F(ForkTest, InheritedHoldsOutliveTheChildsLocks) {
  std::optional<Hold> hold = locks->lock("k").acquire(forever);
  EXPECT_EQ(in_child([&](Findings& findings) {
              locks.reset();
              CHILD_EXPECT(findings, hold->lost());
              CHILD_EXPECT(findings, hold->key() == "k");
              hold.reset();
            }),
            "");
  expect_parent_holds("k");
}

TEST_F(ForkTest, ForkWhileAThreadWaits) {
  std::size_t attempts = 0;
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::WRITE}) {
    Lock lock = locks->lock("k", type);
    lock.lock();
    std::thread waiter([&] { const std::scoped_lock guard{lock}; });
    ASSERT_TRUE(counter.await(Kind::attempt, attempts += 2));
    std::this_thread::sleep_for(5ms);  // sleeps: the waiter is parked by then, most times
    EXPECT_EQ(in_child([&](Findings& findings) {
                CHILD_EXPECT(findings, !lock.try_lock());
                expect_new_locks_work(findings, *locks, counter);
                locks.reset();
              }),
              "");
    lock.unlock();
    waiter.join();
  }
  EXPECT_TRUE(locks->list().empty());
}

TEST_F(ForkTest, ForkWhileTheWatchdogRenews) {
  const Locks quick = Locks::connect("memory:", {.watchdog = 90ms, .listener = &counter});
  std::vector<Hold> holds;
  for (int number = 0; number < 50; ++number) {
    holds.push_back(quick.lock("k" + std::to_string(number)).acquire(forever));
  }
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(in_child([&](Findings& findings) {
                CHILD_EXPECT(findings, holds[7].lost());
                const Hold mine = quick.lock("mine").acquire(forever);
                // sleeps: the lease ends, if the child renews nothing
                std::this_thread::sleep_for(10ms);
                CHILD_EXPECT(findings, !holds[7].release());
              }),
              "");
  }
  // A machine that pauses for 90 ms may lose a hold, but then it reports the loss.
  EXPECT_GE(counter.count(Kind::renewed), 50U);
}

TEST_F(ForkTest, ForkWhileThreadsLockAndEnd) {
  std::atomic<bool> leave{false};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int round = 0; !leave; ++round) {
        Lock lock = locks->lock("k" + std::to_string(round % 3),
                                number == 0 ? LockType::FAIR : LockType::REENTRANT);
        if (round % 16 == 0) {
          std::thread([&] { const std::scoped_lock guard{lock}; }).join();
        } else {
          const std::scoped_lock guard{lock};
        }
      }
    });
  }
  const Hold hold = locks->lock("held").acquire(forever);
  for (int round = 0; round < 40; ++round) {
    const std::string found = in_child([&](Findings& findings) {
      CHILD_EXPECT(findings, hold.lost());
      CHILD_EXPECT(findings, !locks->lock("held").try_lock());
      expect_new_locks_work(findings, *locks, counter);
      locks.reset();
    });
    EXPECT_EQ(found, "");
    if (!found.empty()) break;
  }
  leave = true;
  for (std::thread& thread : threads) thread.join();
  expect_parent_holds("held");
}

TEST_F(ForkTest, AGrandchildLocks) {
  const Hold hold = locks->lock("k").acquire(forever);
  EXPECT_EQ(in_child([&](Findings& findings) {
              const Hold mine = locks->lock("mine").acquire(forever);
              const std::string found = in_child([&](Findings& deeper) {
                CHILD_EXPECT(deeper, hold.lost() && mine.lost());
                CHILD_EXPECT(deeper, !locks->lock("mine").try_lock());
                expect_new_locks_work(deeper, *locks, counter);
              });
              CHILD_EXPECT(findings, found.empty());
              CHILD_EXPECT(findings, !mine.lost());
            }),
            "");
  expect_parent_holds("k");
}

}  // namespace
}  // namespace latchkey
