// Every error text of a lock, word for word: key, type, backend and holder.
#include <latchkey/error.hpp>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/locks.hpp>

#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"
#include "support/recorder.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

template <class Call>
std::string sentence_of(Call&& call) {
  try {
    call();
  } catch (const LockError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

class ErrorsTest : public ::testing::Test, public ManualLocks {};

TEST_F(ErrorsTest, LockTimeoutNamesTheOwnerInThisProcess) {
  const Locks theirs = another();
  Lock held = theirs.lock("k", LockType::WRITE);
  const Hold hold = held.acquire(forever);
  std::uint64_t owner = 0;
  ASSERT_TRUE(recorder.await(Kind::granted));
  owner = recorder.of(Kind::granted)[0].owner;
  try {
    static_cast<void>(locks.lock("k", LockType::READ).acquire(0ms));
    FAIL();
  } catch (const LockTimeout& error) {
    EXPECT_EQ(error.what(),
              "the READ lock 'k' on memory: was busy for the whole wait of 0 ms; "
              "held by owner " +
                  std::to_string(owner) + " of this process, for 0 ms");
    EXPECT_EQ(error.key(), "k");
    EXPECT_EQ(error.type(), LockType::READ);
    EXPECT_EQ(error.backend(), "memory:");
    EXPECT_EQ(error.waited(), 0ms);
    EXPECT_EQ(error.holder(), "owner " + std::to_string(owner) + " of this process, for 0 ms");
  }
}

std::string keep_busy(const Locks& locks, const std::function<std::string()>& meanwhile) {
  return LOCKED("busy", LockType::FAIR).in(locks)AROUND(meanwhile) { return meanwhile(); };
}

TEST_F(ErrorsTest, LockTimeoutNamesTheHoldersMethodThreadAndTime) {
  const std::string sentence = keep_busy(locks, [&] {
    clock.advance(1500ms);
    return sentence_of([&] { static_cast<void>(another().lock("busy").acquire(0ms)); });
  });
  EXPECT_TRUE(sentence.ends_with(", owner " + std::to_string(Owner::this_thread().number()) +
                                 " of this process (thread " +
                                 std::to_string(::syscall(SYS_gettid)) + "), for 1500 ms"))
      << sentence;
  EXPECT_NE(sentence.find("held by latchkey::"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("keep_busy (errors_test.cpp:"), std::string::npos) << sentence;
  EXPECT_TRUE(recorder.await(Kind::busy));
  EXPECT_EQ("the REENTRANT lock 'busy' on memory: was busy for the whole wait of 0 ms; held by " +
                recorder.of(Kind::busy)[0].holder,
            sentence);
}

TEST_F(ErrorsTest, LockTimeoutNamesTheFairHolderOfThisProcess) {
  const Hold hold = another().lock("fair", LockType::FAIR).acquire(forever);
  const std::string sentence =
      sentence_of([&] { static_cast<void>(locks.lock("fair", LockType::FAIR).acquire(0ms)); });
  EXPECT_TRUE(sentence.ends_with(" of this process, for 0 ms")) << sentence;
}

TEST_F(ErrorsTest, LockTimeoutNamesTheHolderElsewhere) {
  const Locks here = Locks::connect("memory:errors", {.clock = &clock, .listener = &recorder});
  const Locks elsewhere = Locks::connect("memory:errors", {.clock = &clock});
  const Hold hold = elsewhere.lock("k").acquire(0ms, 1h);
  const std::string id = here.inspect("k").holders.at(0).id;
  auto waiter = std::async(std::launch::async, [&] {
    return sentence_of([&] { static_cast<void>(here.lock("k").acquire(1500ms)); });
  });
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(1500ms);
  EXPECT_EQ(waiter.get(),
            "the REENTRANT lock 'k' on memory:errors was busy for the whole wait of 1500 ms; "
            "held by " +
                id);
}

TEST_F(ErrorsTest, NotOwner) {
  EXPECT_EQ(
      sentence_of([&] { locks.lock("k", LockType::FENCED).release(); }),
      "the FENCED lock 'k' on memory: is not held by this owner by lock(): nothing to unlock");
  locks.lock("k", LockType::FENCED).unlock();
  ASSERT_TRUE(recorder.await(Kind::unlock_error));
  EXPECT_EQ(
      recorder.of(Kind::unlock_error)[0].text,
      "the FENCED lock 'k' on memory: is not held by this owner by lock(): nothing to unlock");
}

TEST_F(ErrorsTest, WouldDeadlock) {
  const Hold hold = locks.lock("k", LockType::READ).acquire(forever);
  EXPECT_EQ(sentence_of([&] { locks.lock("k", LockType::WRITE).lock(); }),
            "the WRITE lock 'k' on memory: would wait for its own owner, who holds it as READ: a "
            "READ cannot become a WRITE; take the WRITE first, or end the READ before");
}

TEST_F(ErrorsTest, Cancelled) {
  const Hold hold = another().lock("k").acquire(forever);
  std::stop_source stop;
  stop.request_stop();
  Attempt attempt;
  attempt.cancel = stop.get_token();
  EXPECT_EQ(sentence_of([&] { static_cast<void>(locks.acquire("k", attempt)); }),
            "the wait for the REENTRANT lock 'k' on memory: was cancelled by its stop token");
}

TEST_F(ErrorsTest, Closed) {
  locks.close(0ms);
  EXPECT_EQ(sentence_of([&] { locks.lock("k", LockType::FAIR).lock(); }),
            "the Locks of the FAIR lock 'k' on memory: are closed");
}

TEST_F(ErrorsTest, MessagesNameTheKeyWithItsPrefix) {
  const Locks shop = Locks::connect("memory:", {.prefix = "shop:", .clock = &clock});
  EXPECT_EQ(sentence_of([&] { shop.lock("k").release(); }),
            "the REENTRANT lock 'shop:k' on memory: is not held by this owner by lock(): nothing "
            "to unlock");
}

class SilenceTest : public ::testing::Test {
 protected:
  tests::Recorder recorder;
  tests::Faults faults;
  Locks locks{std::make_unique<tests::FailingBackend>(faults),
              {.unavailable_after = 200ms, .listener = &recorder}};
  const std::string unknown =
      "the state of the REENTRANT lock 'k' on failing is unknown: the line is dead";
  [[nodiscard]] ::testing::AssertionResult says_unknown(const std::string& sentence) const {
    const auto begin = unknown + "; waited ";
    if (sentence.starts_with(begin) && sentence.ends_with(" ms")) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << sentence;
  }
  const std::string unconfirmed =
      "the release of the REENTRANT lock 'k' on failing was not confirmed: the line is dead; the "
      "lock ends at the latest with its lease";
};

TEST_F(SilenceTest, EndsAWaitAsUnavailable) {
  faults.silent = true;
  EXPECT_TRUE(
      says_unknown(sentence_of([&] { static_cast<void>(locks.lock("k").acquire(100ms)); })));
}

TEST_F(SilenceTest, EndsASingleAttemptAsUnavailable) {
  faults.silent = true;
  EXPECT_TRUE(
      says_unknown(sentence_of([&] { static_cast<void>(locks.lock("k").try_acquire(0ms)); })));
  EXPECT_THROW(locks.lock("other").try_lock(), BackendUnavailable);
}

TEST_F(SilenceTest, EndsAnEndlessWaitAsUnavailable) {
  faults.silent = true;
  EXPECT_TRUE(says_unknown(sentence_of([&] { locks.lock("k").lock(); })));
}

TEST_F(SilenceTest, ThatEndsDuringTheWaitGrantsTheLock) {
  faults.silent = true;
  auto waiter = std::async(std::launch::async, [&] { return locks.lock("k").acquire(10s); });
  EXPECT_TRUE(tests::eventually([&] { return faults.acquires > 0; }));
  faults.silent = false;
  EXPECT_TRUE(waiter.get().release());
}

TEST_F(SilenceTest, OfAReleaseIsReported) {
  Lock lock = locks.lock("k");
  lock.lock();
  faults.silent = true;
  EXPECT_EQ(sentence_of([&] { lock.release(); }), unconfirmed);
  EXPECT_EQ(sentence_of([&] { lock.release(); }),
            "the REENTRANT lock 'k' on failing is not held by this owner by lock(): nothing to "
            "unlock");
  faults.silent = false;
  EXPECT_TRUE(lock.try_lock_for(10s));  // the release was sent again
  faults.silent = true;
  recorder.clear();
  lock.unlock();
  ASSERT_TRUE(recorder.await(Kind::release_unconfirmed));
  EXPECT_EQ(recorder.of(Kind::release_unconfirmed)[0].text, "the line is dead");
  faults.silent = false;
}

TEST_F(SilenceTest, OfRenewalsLosesTheHold) {
  latchkey::testing::ManualClock clock;
  const Locks quick{std::make_unique<tests::FailingBackend>(faults, clock),
                    {.clock = &clock, .listener = &recorder}};
  Hold hold = quick.lock("k").acquire(forever);
  faults.silent = true;
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(10s);
  for (int second = 0; second < 19; ++second) {  // it is tried again every second
    ASSERT_TRUE(tests::eventually([&] { return faults.renewals == second + 1; }));
    ASSERT_TRUE(clock.await_sleepers(1));
    EXPECT_FALSE(hold.lost());
    clock.advance(1s);
  }
  ASSERT_TRUE(clock.await_sleepers(1));
  clock.advance(700ms);
  ASSERT_TRUE(recorder.await(Kind::lost));
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(hold.extend(1s));
  faults.silent = false;
  EXPECT_FALSE(hold.release());
  // The release of a lost hold is sent, and not waited for.
  EXPECT_TRUE(tests::eventually([&] { return quick.lock("k").try_lock(); }));
}

TEST_F(SilenceTest, OfAnExtendIsReportedAndTheHoldStays) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  faults.silent = true;
  EXPECT_EQ(sentence_of([&] { hold.extend(20s); }), unknown);
  EXPECT_FALSE(hold.lost());
  faults.silent = false;
  EXPECT_TRUE(hold.extend(20s));
  EXPECT_TRUE(hold.release());
}

TEST_F(SilenceTest, RefusalsAreReportedAtOnce) {
  faults.refusing = true;
  EXPECT_EQ(sentence_of([&] { locks.lock("k").lock(); }),
            "the backend refused the REENTRANT lock 'k' on failing: not allowed");
  faults.refusing = false;
  Hold hold = locks.lock("k").acquire(forever);
  faults.refusing = true;
  EXPECT_EQ(sentence_of([&] { hold.release(); }),
            "the backend refused the REENTRANT lock 'k' on failing: not allowed");
  faults.refusing = false;
}

}  // namespace
}  // namespace latchkey
