// all_of(): several locks that are acquired, lost and released together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

class AllOfTest : public ::testing::Test, public ManualLocks {
 protected:
  [[nodiscard]] bool locked(std::string_view key) const { return locks.inspect(key).locked; }
  [[nodiscard]] Lock both(LockType type = LockType::WRITE) const {
    return locks.all_of({locks.lock("b", type), locks.lock("a", type)});
  }
  template <class Call>
  static std::string sentence(Call&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
};

TEST_F(AllOfTest, AcquiresAllAndReleasesAll) {
  Hold hold = both().acquire(1s, 30s);
  EXPECT_TRUE(locked("a") && locked("b"));
  EXPECT_FALSE(hold.lost());
  EXPECT_EQ(hold.key(), "a, b");
  EXPECT_EQ(hold.type(), LockType::WRITE);
  EXPECT_TRUE(hold.covers("a") && hold.covers("b"));
  EXPECT_FALSE(hold.covers("a, b"));
  EXPECT_EQ(hold.remaining(), 29'700ms);
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(locks.list().empty());
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(hold.release());
}

TEST_F(AllOfTest, ADestructorReleasesToo) {
  {
    const Hold hold = both(LockType::FAIR).acquire(forever);
  }
  EXPECT_TRUE(locks.list().empty());
  EXPECT_EQ(recorder.count(Kind::unlock_error), 0U);
}

TEST_F(AllOfTest, TypesAndBackendsMayDiffer) {
  const Locks elsewhere = Locks::connect("memory:", {.clock = &clock});
  Lock all = locks.all_of({locks.lock("k", LockType::FAIR), elsewhere.lock("k", LockType::READ),
                           locks.lock("j", LockType::FENCED)});
  {
    const Hold hold = all.acquire(1s, 10s);
    EXPECT_TRUE(locked("k") && locked("j") && elsewhere.inspect("k").locked);
    EXPECT_FALSE(hold.fencing_token());
    EXPECT_TRUE(hold.fencing_token("j"));
    EXPECT_FALSE(hold.fencing_token("k"));
    EXPECT_TRUE(elsewhere.with_owner(Owner::make()).lock("k", LockType::READ).try_acquire());
  }
  EXPECT_TRUE(locks.list().empty() && elsewhere.list().empty());
}

TEST_F(AllOfTest, AnInvalidSetIsAKeyError) {
  EXPECT_EQ(sentence([&] { static_cast<void>(locks.all_of({})); }),
            "several locks at once need at least 1 key: there is none");
  EXPECT_EQ(
      sentence([&] {
        static_cast<void>(
            locks.all_of({locks.lock("k", LockType::READ), locks.lock("k", LockType::WRITE)}));
      }),
      "several locks at once name the key 'k' as READ and as WRITE: one key has one type, say "
      "WRITE for both");
  EXPECT_THAT(sentence([&] {
                static_cast<void>(locks.all_of({another().lock("k"), another().lock("k")}));
              }),
              ::testing::HasSubstr("for two owners"));
  std::vector<Lock> crowd;
  for (int index = 0; index <= 1'000; ++index) crowd.push_back(locks.lock(std::to_string(index)));
  EXPECT_EQ(sentence([&] { static_cast<void>(locks.all_of(crowd)); }),
            "several locks at once are at most 1000 keys: these are 1001");
  crowd.pop_back();
  Lock all = locks.all_of(crowd);
  const Hold hold = all.acquire(forever);
  EXPECT_EQ(locks.list().size(), 1'000U);
  EXPECT_EQ(all.key(), "0, 1, 10, 100, 101 and 995 more");
}

TEST_F(AllOfTest, AKeyThatIsNamedTwiceIsAcquiredOnce) {
  Lock one = locks.all_of({locks.lock("k"), locks.lock("k")});
  EXPECT_EQ(one.key(), "k");
  const Hold hold = locks.all_of({one, locks.lock("j"), one, locks.all_of({one})}).acquire(forever);
  EXPECT_EQ(hold.key(), "j, k");
  EXPECT_EQ(locks.inspect("k").holders.size(), 1U);
}

TEST_F(AllOfTest, NothingStaysLockedIfOneKeyIsBusy) {
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {  // together, and in order
    const Hold theirs = another().lock("b", type).acquire(forever);
    EXPECT_FALSE(both(type).try_acquire());
    EXPECT_FALSE(locked("a"));
    EXPECT_FALSE(both(type).try_lock());
    try {
      static_cast<void>(both(type).acquire(0ms));
      FAIL() << "b is busy";
    } catch (const LockTimeout& error) {
      EXPECT_EQ(error.key(), "b");
      EXPECT_FALSE(error.holder().empty());
    }
    EXPECT_FALSE(locked("a"));
    EXPECT_TRUE(locks.inspect("b").queue.empty());
  }
}

TEST_F(AllOfTest, ReentryInsideAndAWrongTypeIsADeadlock) {
  const Hold outer = both().acquire(forever);
  {
    const Hold inner = locks.lock("a", LockType::WRITE).acquire(0ms);
  }
  {
    const Hold again =
        locks.all_of({locks.lock("a", LockType::READ), locks.lock("c")}).acquire(0ms);
  }
  EXPECT_FALSE(locked("c"));
  EXPECT_THROW(static_cast<void>(locks.all_of({locks.lock("b"), locks.lock("c")}).acquire(0ms)),
               WouldDeadlock);
  EXPECT_FALSE(locked("c"));
  EXPECT_TRUE(locked("a") && locked("b") && !outer.lost());
}

TEST_F(AllOfTest, IsALockForStandardGuards) {
  Lock lock = both(LockType::REENTRANT);
  {
    const std::scoped_lock guard{lock};
    EXPECT_TRUE(locked("a") && locked("b"));
    EXPECT_TRUE(lock.try_lock());
    EXPECT_TRUE(lock.release());
    EXPECT_TRUE(locked("a"));
  }
  EXPECT_TRUE(locks.list().empty());
  EXPECT_THROW(lock.release(), NotOwner);
  const Hold theirs = another().lock("b").acquire(forever);
  EXPECT_FALSE(lock.try_lock());
  EXPECT_EQ(recorder.count(Kind::unlock_error), 0U);
  EXPECT_FALSE(locked("a"));
}

TEST_F(AllOfTest, IsLostAsSoonAsOneKeyIs) {
  Hold hold = both().acquire(0ms, 9s);
  const std::stop_token stop = hold.stop_token();
  ASSERT_TRUE(locks.force_release("b"));
  EXPECT_FALSE(hold.lost());
  pass(3s);  // the next check
  EXPECT_TRUE(hold.lost());
  EXPECT_EQ(hold.remaining(), 0ms);
  EXPECT_TRUE(tests::eventually([&] { return stop.stop_requested(); }));
  EXPECT_FALSE(hold.extend(9s));
  EXPECT_FALSE(hold.release());
  EXPECT_FALSE(locked("a"));
}

// A callback that wanted a mutex of the releasing thread was a deadlock.
TEST(AllOfStopCallbacks, AreNotAwaitedByARelease) {
  for (const bool by_destructor : {false, true}) {
    const Locks locks = Locks::connect("memory:");
    Hold hold = locks.all_of({locks.lock("a"), locks.lock("b")}).acquire(0ms, 30s);
    std::timed_mutex mine;
    std::atomic<bool> began = false, ended = false;
    const std::stop_callback callback(hold.stop_token(), [&] {
      began = true;
      if (mine.try_lock_for(tests::patience)) mine.unlock();
      ended = true;
    });
    mine.lock();
    EXPECT_TRUE(locks.force_release("a"));
    EXPECT_FALSE(hold.extend(30s)) << "it finds out";
    ASSERT_TRUE(tests::eventually([&] { return began.load(); }));
    if (by_destructor) {
      const Hold gone = std::move(hold);
    } else {
      EXPECT_FALSE(hold.release());
    }
    EXPECT_FALSE(ended) << "the release waited for the callback";
    mine.unlock();
  }
}

TEST(AllOfStopCallbacks, AreNotAwaitedByTheLastHoldOfItsLocks) {
  std::timed_mutex mine;
  std::atomic<bool> began = false;
  std::promise<void> ended;
  std::optional<Locks> locks = Locks::connect("memory:");
  std::optional<Hold> hold = locks->lock("a").acquire(0ms, 30ms);
  locks.reset();
  const std::stop_callback callback(hold->stop_token(), [&] {
    began = true;
    if (mine.try_lock_for(tests::patience)) mine.unlock();
    ended.set_value();
  });
  std::future<void> end = ended.get_future();
  mine.lock();
  ASSERT_TRUE(tests::eventually([&] { return began.load(); }));
  hold.reset();
  EXPECT_EQ(end.wait_for(0ms), std::future_status::timeout) << "it waited for the callback";
  mine.unlock();
  EXPECT_EQ(end.wait_for(tests::patience), std::future_status::ready);
}

TEST_F(AllOfTest, AStopTokenTakenAfterALossIsStopped) {
  Hold hold = locks.all_of({locks.lock("a"), locks.lock("b")}).acquire(0ms, 1s);
  clock.advance(2s);
  EXPECT_TRUE(hold.stop_token().stop_requested());
}

TEST_F(AllOfTest, ExtendMovesTheDeadlineOfAllKeys) {
  Hold hold = both().acquire(0ms, 3s);
  clock.advance(1s);
  EXPECT_TRUE(hold.extend(60s));
  EXPECT_EQ(hold.remaining(), 59'400ms);
  clock.advance(50s);
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(locked("a") && locked("b"));
}

TEST_F(AllOfTest, AHoldKeepsItsBackendsAlive) {
  std::optional<Hold> hold;
  {
    const Locks one = Locks::connect("memory:", {.clock = &clock});
    const Locks two = Locks::connect("memory:", {.clock = &clock});
    hold = one.all_of({one.lock("k"), two.lock("k")}).acquire(forever);
  }
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(hold->release());
}

TEST(AllOf, AnUnreachableBackendIsUnavailable) {
  tests::Faults faults;
  const Locks locks(std::make_unique<tests::FailingBackend>(faults));
  Lock all = locks.all_of({locks.lock("a"), locks.lock("b")});
  faults.silent = true;
  EXPECT_THROW(static_cast<void>(all.try_acquire()), BackendUnavailable);
  faults.silent = false;
  faults.refusing = true;
  Lock others = locks.all_of({locks.lock("c"), locks.lock("d")});
  EXPECT_THROW(static_cast<void>(others.try_acquire()), BackendRefused);
  faults.refusing = false;
  Hold hold = all.acquire(10s, 30s);
  faults.silent = true;
  EXPECT_THROW(hold.release(), BackendUnavailable);
}

}  // namespace
}  // namespace latchkey
