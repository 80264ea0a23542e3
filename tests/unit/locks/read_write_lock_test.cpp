// READ and WRITE of one key: exclusion, READ inside WRITE, and deadlocks.
#include <latchkey/read_write_lock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

class ReadWriteLockTest : public ::testing::Test, public ManualLocks {};

TEST_F(ReadWriteLockTest, ReadersShareAndAWriterIsAlone) {
  ReadWriteLock mine = locks.read_write("k"), theirs = another().read_write("k");
  {
    const std::shared_lock reader{mine};
    EXPECT_TRUE(theirs.try_lock_shared());
    EXPECT_EQ(locks.inspect("k").holders.size(), 2U);
    EXPECT_EQ(locks.inspect("k").type, LockType::READ);
    EXPECT_FALSE(another().read_write("k").try_lock());
    theirs.unlock_shared();
  }
  {
    const std::unique_lock writer{mine};
    EXPECT_EQ(locks.inspect("k").type, LockType::WRITE);
    EXPECT_FALSE(theirs.try_lock_shared());
    EXPECT_FALSE(theirs.try_lock());
  }
  EXPECT_TRUE(theirs.try_lock());
  theirs.unlock();
  EXPECT_TRUE(locks.list().empty());
  EXPECT_EQ(recorder.count(Kind::unlock_error), 0U);
}

TEST_F(ReadWriteLockTest, TimedAttemptsEndAtTheirDeadline) {
  ReadWriteLock mine = locks.read_write("k"), theirs = another().read_write("k");
  std::shared_lock reader{mine, 1s};
  EXPECT_TRUE(reader.owns_lock());
  EXPECT_TRUE(theirs.try_lock_shared_until(std::chrono::steady_clock::now() + 1s));
  theirs.unlock_shared();
  std::thread waiter([&] { EXPECT_FALSE(theirs.try_lock_for(100ms)); });
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(100ms);
  waiter.join();
  EXPECT_FALSE(theirs.try_lock_until(std::chrono::steady_clock::time_point::min()));
}

TEST_F(ReadWriteLockTest, ReadsAreCounted) {
  ReadWriteLock lock = locks.read_write("k");
  lock.lock_shared();
  lock.lock_shared();
  lock.unlock_shared();
  EXPECT_TRUE(locks.inspect("k").locked);
  lock.unlock_shared();
  EXPECT_FALSE(locks.inspect("k").locked);
}

TEST_F(ReadWriteLockTest, AReadInsideOnesOwnWriteIsGranted) {
  ReadWriteLock lock = locks.read_write("k");
  const std::unique_lock writer{lock};
  {
    const std::shared_lock reader{lock};
    EXPECT_EQ(locks.inspect("k").type, LockType::WRITE);
    EXPECT_FALSE(another().read_write("k").try_lock_shared());
  }
  EXPECT_EQ(locks.inspect("k").type, LockType::WRITE);
}

TEST_F(ReadWriteLockTest, AWriteReleasedBeforeItsReadAdmitsReaders) {
  ReadWriteLock lock = locks.read_write("k"), theirs = another().read_write("k");
  lock.lock();
  Hold read = lock.read().acquire(forever);
  auto reader = std::async(std::launch::async, [&] {
    const std::shared_lock shared{theirs};
    return locks.inspect("k").holders.size();
  });
  ASSERT_TRUE(recorder.await(Kind::attempt, 3));
  EXPECT_TRUE(lock.write().release());
  EXPECT_EQ(reader.get(), 2U);
  EXPECT_FALSE(read.lost());
  EXPECT_EQ(locks.inspect("k").type, LockType::READ);
  EXPECT_FALSE(theirs.try_lock());
  EXPECT_TRUE(read.release());
  EXPECT_TRUE(theirs.try_lock());
  theirs.unlock();
}

TEST_F(ReadWriteLockTest, AReadThatOutlivesItsWriteIsStillRenewed) {
  ReadWriteLock lock = locks.read_write("k");
  lock.lock();
  lock.lock_shared();
  lock.unlock();
  for (int third = 0; third < 12; ++third) pass(10s);
  EXPECT_TRUE(locks.inspect("k").locked);
  EXPECT_TRUE(lock.read().release());
}

TEST_F(ReadWriteLockTest, AWriteInsideOnesOwnReadWouldDeadlock) {
  ReadWriteLock lock = locks.read_write("k");
  const std::shared_lock reader{lock};
  EXPECT_THROW(lock.lock(), WouldDeadlock);
  EXPECT_THROW(lock.try_lock(), WouldDeadlock);
  EXPECT_THROW(static_cast<void>(lock.write().acquire(forever)), WouldDeadlock);
  EXPECT_EQ(locks.inspect("k").type, LockType::READ);
}

TEST_F(ReadWriteLockTest, AWriteAfterADowngradeWouldDeadlock) {
  ReadWriteLock lock = locks.read_write("k");
  lock.lock();
  const std::shared_lock reader{lock};
  lock.unlock();
  EXPECT_THROW(lock.lock(), WouldDeadlock);
  EXPECT_TRUE(lock.try_lock_shared());
  lock.unlock_shared();
}

TEST_F(ReadWriteLockTest, AnotherTypeOfOnesOwnKeyWouldDeadlock) {
  const LockType all[] = {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE,
                          LockType::FENCED};
  for (const LockType held : all) {
    const Hold hold = locks.lock("k", held).acquire(forever);
    for (const LockType asked : all) {
      SCOPED_TRACE(std::string(to_string(asked)) + " inside " + std::string(to_string(held)));
      const bool counted = asked == held || (asked == LockType::READ && held == LockType::WRITE);
      if (counted) {
        EXPECT_TRUE(locks.lock("k", asked).try_acquire().has_value());
      } else {
        EXPECT_THROW(static_cast<void>(locks.lock("k", asked).try_acquire()), WouldDeadlock);
      }
    }
  }
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(ReadWriteLockTest, AReaderDoesNotPassAWaitingWriter) {
  ReadWriteLock first = locks.read_write("k");
  first.lock_shared();
  auto writer = std::async(std::launch::async,
                           [&] { return another().read_write("k").write().acquire(forever); });
  ASSERT_TRUE(clock.await_sleepers(2));
  EXPECT_FALSE(another().read_write("k").try_lock_shared());
  EXPECT_TRUE(first.try_lock_shared());  // its own, again: counted
  first.unlock_shared();
  first.unlock_shared();
  EXPECT_TRUE(writer.get().release());
}

TEST_F(ReadWriteLockTest, WaitingReadersEnterTogether) {
  Lock writer = locks.read_write("k").write();
  writer.lock();
  std::promise<void> leave;
  auto left = leave.get_future().share();
  std::atomic<int> inside{0};
  std::vector<std::thread> readers;
  for (int number = 0; number < 4; ++number) {
    readers.emplace_back([&] {
      ReadWriteLock lock = locks.read_write("k");
      const std::shared_lock shared{lock};
      ++inside;
      left.wait();
    });
  }
  ASSERT_TRUE(recorder.await(Kind::attempt, 5));
  writer.unlock();
  EXPECT_TRUE(tests::eventually([&] { return inside == 4; }));
  leave.set_value();
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace latchkey
