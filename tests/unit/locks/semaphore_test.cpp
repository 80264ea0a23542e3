// Semaphore and LOCKED(...).permits(n), in memory.
// tidy: long-file because it is about one class
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/latchkey.hpp>
#include <latchkey/quorum.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using tests::Recorder;
using Kind = Event::Kind;

/// The sentence of the std::invalid_argument that `action` throws.
template <class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

class SemaphoreTest : public ::testing::Test, public ManualLocks {
 protected:
  const Semaphore exports = locks.semaphore("exports", 3);
};

// They waited: from another process the same key was refused.
TEST_F(SemaphoreTest, TheKeyOfALockOfThisProcessIsRefusedAndTheReverse) {
  const Hold lock = locks.lock("both").acquire(forever);
  EXPECT_THROW(static_cast<void>(locks.semaphore("both", 1).acquire(1, forever)), BackendRefused);
  EXPECT_THROW(static_cast<void>(locks.semaphore("both", 1).try_acquire()), BackendRefused);
  const Hold permit = exports.acquire(1, forever);
  EXPECT_THROW(static_cast<void>(locks.lock("exports").acquire(forever)), BackendRefused);
  EXPECT_THROW(
      static_cast<void>(locks.all_of({locks.lock("a"), locks.lock("exports")}).acquire(forever)),
      BackendRefused);
  EXPECT_FALSE(locks.inspect("a").locked);
}

TEST_F(SemaphoreTest, GrantsAsManyAsThereAreToOneThread) {
  EXPECT_EQ(exports.available(), 3);
  Hold first = exports.acquire(1, forever);
  const Hold rest = exports.acquire(2, 0ms, 10s);
  EXPECT_EQ(first.permits(), 1U);
  EXPECT_EQ(rest.permits(), 2U);
  EXPECT_EQ(rest.type(), LockType::PERMIT);
  EXPECT_EQ(exports.available(), 0);
  EXPECT_EQ(exports.total(), 3);
  EXPECT_FALSE(exports.try_acquire().has_value());
  try {
    static_cast<void>(exports.acquire(1, 0ms));
    ADD_FAILURE() << "more than there are";
  } catch (const LockTimeout& error) {
    EXPECT_STREQ(
        error.what(),
        "the semaphore 'exports' on memory: had too few permits for the whole wait of 0 ms");
  }
  EXPECT_TRUE(first.release());
  EXPECT_TRUE(exports.try_acquire().has_value());
  EXPECT_EQ(exports.available(), 1);
}

TEST_F(SemaphoreTest, APermitMayBeReleasedOnAnotherThread) {
  Hold hold = exports.acquire(3, forever);
  std::thread([mine = std::move(hold)]() mutable { EXPECT_TRUE(mine.release()); }).join();
  EXPECT_EQ(exports.available(), 3);
}

TEST_F(SemaphoreTest, TheWatchdogRenewsAndALeaseThatIsNotRenewedEnds) {
  const Hold watched = exports.acquire(1, forever);
  const Hold brief = exports.acquire(2, 0ms, 10s);
  for (int third = 0; third < 4; ++third) pass(10s);
  EXPECT_FALSE(watched.lost());
  EXPECT_TRUE(brief.lost());
  EXPECT_EQ(exports.available(), 2);
}

TEST_F(SemaphoreTest, ADestroyedSemaphoreIsLostToItsHoldersAtTheNextCheck) {
  const Hold hold = exports.acquire(2, forever);
  const std::stop_token stop = hold.stop_token();
  EXPECT_TRUE(exports.destroy());
  EXPECT_FALSE(exports.destroy());
  EXPECT_FALSE(hold.lost());
  pass(10s);
  EXPECT_TRUE(hold.lost());
  EXPECT_TRUE(recorder.await(Kind::lost));
  EXPECT_TRUE(tests::eventually([&] { return stop.stop_requested(); }));
  EXPECT_EQ(exports.available(), 3);
}

TEST_F(SemaphoreTest, SetTotalTakesNothingAwayAndWinsOverHandles) {
  Hold hold = exports.acquire(3, forever);
  exports.set_total(2);
  EXPECT_EQ(exports.available(), -1);
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(exports.available(), 2);
  EXPECT_EQ(locks.semaphore("exports", 7).total(), 2);
  EXPECT_THROW(static_cast<void>(exports.acquire(3, 0ms)), BackendRefused);
}

TEST_F(SemaphoreTest, EventsSayPermitAndEachAcquireHasAnOwnerOfItsOwn) {
  {
    const Hold one = exports.acquire(1, forever), other = exports.acquire(1, forever);
  }
  ASSERT_TRUE(recorder.await(Kind::released, 2));
  const auto granted = recorder.of(Kind::granted);
  ASSERT_EQ(granted.size(), 2U);
  EXPECT_EQ(to_string(granted[0].type), "PERMIT");
  EXPECT_NE(granted[0].owner, granted[1].owner);
}

TEST_F(SemaphoreTest, AKeyIsALockOrASemaphore) {
  const Locks one = Locks::connect("memory:mixed"), other = Locks::connect("memory:mixed");
  const Hold lock = one.lock("lock").acquire(forever);
  EXPECT_THROW(static_cast<void>(other.semaphore("lock", 1).acquire(1, 0ms)), BackendRefused);
  const Hold permit = one.semaphore("exports", 3).acquire(1, forever);
  EXPECT_THROW(static_cast<void>(other.lock("exports").acquire(0ms)), BackendRefused);
  EXPECT_THROW(static_cast<void>(one.lock("exports").acquire(0ms)), BackendRefused)
      << "also in the process that holds it";
}

TEST_F(SemaphoreTest, NumbersThatMakeNoSenseAreOneSentence) {
  EXPECT_EQ(refusal_of([&] { static_cast<void>(locks.semaphore("k", 0)); }),
            "a semaphore of 0 permits: expected 1 to 2147483647, as in Locks::semaphore(key, 3) or "
            "LOCKED(key).permits(3)");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(exports.acquire(0, forever)); }),
            "an acquire of 0 permits: expected 1 to 1000");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(exports.try_acquire(-1)); }),
            "an acquire of -1 permits: expected 1 to 1000");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(exports.acquire(4, forever)); }),
            "an acquire of 4 permits waits for ever: the semaphore has 3");
  EXPECT_EQ(refusal_of([&] { exports.set_total(-2); }).substr(0, 29),
            "a semaphore of -2 permits: ex");
  EXPECT_TRUE(refusal_of([&] {
                static_cast<void>(locks.lock("k", LockType::PERMIT));
              }).starts_with("PERMIT is no type of a lock"));
}

TEST_F(SemaphoreTest, ABackendWithoutSemaphoresIsNamed) {
  const Locks quorum = Locks::connect("quorum: memory: memory: memory:", {.clock = &clock});
  EXPECT_FALSE(quorum.capabilities().permits);
  const std::string sentence = refusal_of([&] { static_cast<void>(quorum.semaphore("k", 3)); });
  const std::string end =
      " offers no semaphores; memory:, host:, redis:, postgresql: and mysql: do";
  EXPECT_TRUE(sentence.ends_with(end)) << sentence;
}

/// Waits for a permit on threads of its own, one after the other.
class Waiters {
 public:
  Waiters(const Locks& locks, Recorder& recorder) : locks_(locks), recorder_(recorder) {}
  ~Waiters() { join(); }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  void add(std::size_t count) {
    for (std::size_t more = 0; more < count; ++more) {
      const std::size_t number = threads_.size();
      threads_.emplace_back([this, number] {
        const Hold hold = locks_.semaphore("exports", 3).acquire(1, forever);
        const std::lock_guard lock(mutex_);
        order_.push_back(number);
      });
      ASSERT_TRUE(recorder_.await(Kind::waiting, number + 1));
    }
  }
  void join() {
    for (std::thread& each : threads_) {
      if (each.joinable()) each.join();
    }
  }
  std::vector<std::size_t> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }

 private:
  const Locks& locks_;
  Recorder& recorder_;
  std::mutex mutex_;
  std::vector<std::size_t> order_;
  std::vector<std::thread> threads_;
};

TEST(SemaphoreOrder, WaitersOfAProcessAreServedFirstComeFirstServed) {
  Recorder recorder;
  const Locks locks = Locks::connect("memory:", {.listener = &recorder});
  Hold all = locks.semaphore("exports", 3).acquire(3, forever);
  Waiters waiters(locks, recorder);
  waiters.add(60);
  EXPECT_TRUE(waiters.order().empty());
  EXPECT_TRUE(all.release());
  waiters.join();
  // Three at a time are granted in order, and note it in any.
  const std::vector<std::size_t> order = waiters.order();
  ASSERT_EQ(order.size(), 60U);
  ASSERT_TRUE(recorder.await(Kind::granted, 61));
  const auto granted = recorder.of(Kind::granted);
  for (std::size_t at = 2; at < granted.size(); ++at) {
    EXPECT_GT(granted[at].ticket, granted[at - 1].ticket) << at;
  }
}

TEST(SemaphoreOrder, ACallForManyIsNotOvertakenByCallsForOne) {
  Recorder recorder;
  const Locks locks = Locks::connect("memory:", {.listener = &recorder});
  const Semaphore exports = locks.semaphore("exports", 3);
  Hold one = exports.acquire(1, forever), other = exports.acquire(1, forever);
  std::thread many([&] { const Hold hold = exports.acquire(3, forever); });
  ASSERT_TRUE(recorder.await(Kind::waiting));
  EXPECT_FALSE(exports.try_acquire().has_value());  // one is free, and the call for 3 is first
  EXPECT_TRUE(one.release());
  EXPECT_FALSE(exports.try_acquire().has_value());
  EXPECT_TRUE(other.release());
  many.join();
  EXPECT_EQ(exports.available(), 3);
}

TEST(SemaphoreOrder, NeverMoreThanThereAreAreInside) {
  const Locks locks = Locks::connect("memory:");
  const Semaphore exports = locks.semaphore("exports", 3);
  std::atomic<int> inside = 0, most = 0, rounds = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 16; ++number) {
    threads.emplace_back([&, number] {
      const int taken = number % 4 == 0 ? 2 : 1;
      for (int round = 0; round < 300; ++round) {
        const Hold hold = exports.acquire(taken, forever);
        const int now = inside += taken;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        ++rounds;
        inside -= taken;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(rounds, 16 * 300);
  EXPECT_LE(most, 3);
  EXPECT_EQ(exports.available(), 3);
}

// --- LOCKED ---

struct Reports {
  int send(const std::string& region) {
    return LOCKED("export:{region}", LockType::PERMIT, 0ms, 10s).permits(3) AROUND(region) {
      return static_cast<int>(current_hold()->permits());
    };
  }
  void send_many(int depth) {
    LOCKED("export:all").permits(3, 2).on_timeout(strategy::skip) AROUND(depth) { ++sent; };
  }
  int sent = 0;
};

TEST(LockedPermits, TheBodyHasOnePermitOfAsMany) {
  const testing::ScopedLocks scoped;
  const Locks locks = scoped.locks();
  const Semaphore exports = locks.semaphore("export:eu", 3);
  Reports reports;
  EXPECT_EQ(reports.send("eu"), 1);
  EXPECT_EQ(exports.total(), 3);
  const Hold all = exports.acquire(3, forever);
  EXPECT_THROW(static_cast<void>(reports.send("eu")), LockTimeout);
  EXPECT_EQ(reports.send("us"), 1);
}

TEST(LockedPermits, ACallTakesAsManyAsItSays) {
  const testing::ScopedLocks scoped;
  Reports reports;
  reports.send_many(0);
  EXPECT_EQ(reports.sent, 1);
}

// .permits does not compile after these: tests/compile_fail/locked_permits_of_a_lock.cpp.
static_assert(detail::named_type("LockType::WRITE, 3s, 30s") == LockType::WRITE);
static_assert(detail::named_type("latchkey::LockType::FAIR") == LockType::FAIR);
static_assert(detail::named_type("READ , 3s") == LockType::READ);
static_assert(detail::named_type("") == LockType::PERMIT, "none");
static_assert(detail::named_type("LockType::PERMIT, 3s") == LockType::PERMIT);
static_assert(detail::named_type("type_of(WRITE), 3s") == LockType::PERMIT);
static_assert(detail::named_type("shared ? LockType::PERMIT : LockType::WRITE") ==
              LockType::PERMIT);
static_assert(detail::named_type("Settings::WRITE") == LockType::PERMIT);

TEST(LockedPermits, OptionsThatContradictEachOtherAreOneSentence) {
  EXPECT_EQ(refusal_of([] { static_cast<void>(terms(LockType::WRITE).permits(3)); }),
            "permits(3) makes the key a semaphore, and WRITE is the type of a lock: say PERMIT, or "
            "no type");
  EXPECT_EQ(refusal_of([] { static_cast<void>(terms().permits(3, 4)); }),
            "an acquire of 4 permits waits for ever: the semaphore has 3");
  const testing::ScopedLocks scoped;
  EXPECT_TRUE(refusal_of([&] {
                static_cast<void>(scoped.locks().acquire("k", {.type = LockType::PERMIT}));
              }).starts_with("a semaphore of 0 permits"));
}

TEST(LockedPermits, ASemaphoreIsNotTakenAmongSeveralKeys) {
  const testing::ScopedLocks scoped;
  const std::vector<std::string> keys{"a", "b"};
  EXPECT_TRUE(refusal_of([&] {
                static_cast<void>(scoped.locks().acquire_all(
                    keys, {.type = LockType::PERMIT, .permits = {1, 3}}));
              }).starts_with("PERMIT is no type of a lock"));
}

}  // namespace
}  // namespace latchkey
