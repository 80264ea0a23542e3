// Acquires and releases with every kind of completion token.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include "asio/fixture.hpp"
#include "support/manual_locks.hpp"
#include "support/recorder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class AsioAcquire : public ::testing::Test {
 protected:
  asio::io_context context;
  Locks locks = Locks::connect("memory:");
};

TEST_F(AsioAcquire, AwaitableCompletesWithTheHold) {
  run(context, [](Locks& locks) -> asio::awaitable<void> {
    Hold hold = co_await async_acquire(locks.lock("k"), 1s, 30s, asio::use_awaitable);
    EXPECT_EQ(hold.key(), "k");
    EXPECT_FALSE(hold.lost());
    EXPECT_EQ(locks.inspect("k").holders.size(), 1U);
    EXPECT_TRUE(co_await async_release(std::move(hold), asio::use_awaitable));
    EXPECT_TRUE(locks.inspect("k").holders.empty());
  }(locks));
}

TEST_F(AsioAcquire, CallbackRunsOnItsExecutorAndNeverInline) {
  const auto strand = asio::make_strand(context);
  bool called = false;
  async_acquire(locks.lock("k"), 1s, 30s,
                asio::bind_executor(strand, [&](std::exception_ptr error, Hold hold) {
                  EXPECT_FALSE(error);
                  EXPECT_FALSE(hold.lost());
                  EXPECT_TRUE(strand.running_in_this_thread());
                  called = true;
                }));
  EXPECT_FALSE(called);
  context.run();
  EXPECT_TRUE(called);
  EXPECT_TRUE(locks.lock("k").try_lock());
  locks.lock("k").unlock();
}

TEST_F(AsioAcquire, ReleaseByAThreadNeverRunsTheCallback) {
  std::optional<Hold> theirs = locks.lock("k").acquire(forever);
  bool called = false;
  async_acquire(locks.lock("k"), 10s, 30s,
                asio::bind_executor(context, [&](std::exception_ptr, Hold) { called = true; }));
  theirs.reset();
  EXPECT_FALSE(called);
  context.run();
  EXPECT_TRUE(called);
}

TEST_F(AsioAcquire, FutureWorksWithoutAContext) {
  std::future<Hold> hold = async_acquire(locks.lock("k"), 1s, 30s, asio::use_future);
  EXPECT_FALSE(hold.get().lost());
}

TEST_F(AsioAcquire, DeferredStartsWhenItIsCalled) {
  auto operation = async_try_acquire(locks.lock("k"), 0ms, 30s, asio::deferred);
  EXPECT_TRUE(locks.inspect("k").holders.empty());
  bool held = false;
  std::move(operation)(asio::bind_executor(
      context, [&](std::exception_ptr, std::optional<Hold> hold) { held = hold.has_value(); }));
  context.run();
  EXPECT_TRUE(held);
}

TEST_F(AsioAcquire, BusyLockIsATimeoutOrNoHold) {
  const Hold theirs = locks.lock("k").acquire(forever);
  run(context, [](Locks& locks) -> asio::awaitable<void> {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_FALSE(co_await async_try_acquire(locks.lock("k"), 0ms, 30s, asio::use_awaitable));
    EXPECT_FALSE(co_await async_try_acquire(locks.lock("k"), 20ms, 30s, asio::use_awaitable));
    EXPECT_GE(std::chrono::steady_clock::now() - began, 20ms);
    try {
      static_cast<void>(co_await async_acquire(locks.lock("k"), 10ms, 30s, asio::use_awaitable));
      ADD_FAILURE() << "the lock was granted twice";
    } catch (const LockTimeout& error) {
      EXPECT_EQ(error.key(), "k");
      EXPECT_NE(std::string(error.what()).find("of this process"), std::string::npos);
    }
  }(locks));
}

TEST_F(AsioAcquire, EachOperationHasAnOwnerOfItsOwn) {
  run(context, [](Locks& locks) -> asio::awaitable<void> {
    const Hold hold =
        co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    EXPECT_FALSE(co_await async_try_acquire(locks.lock("k"), 0ms, 30s, asio::use_awaitable));
  }(locks));
}

TEST_F(AsioAcquire, GivenOwnerReenters) {
  run(context, [](Locks locks) -> asio::awaitable<void> {
    const Hold hold =
        co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    const Hold again = co_await async_acquire(locks.lock("k"), 0ms, 30s, asio::use_awaitable);
    EXPECT_EQ(hold.id(), again.id());
    EXPECT_THROW(static_cast<void>(co_await async_acquire(locks.lock("k", LockType::WRITE), 0ms,
                                                          30s, asio::use_awaitable)),
                 WouldDeadlock);
  }(locks.with_owner(Owner::make())));
}

TEST_F(AsioAcquire, ClosedLocksEndTheWait) {
  const Hold theirs = locks.lock("k").acquire(forever);
  std::exception_ptr error;
  async_acquire(locks.lock("k"), forever, watchdog,
                asio::bind_executor(context, [&](std::exception_ptr why, Hold) { error = why; }));
  locks.close(0ms);
  context.run();
  EXPECT_THROW(rethrow(error), Closed);
}

TEST_F(AsioAcquire, SeveralKeysAreOneHold) {
  const Lock pair = locks.all_of({locks.lock("b"), locks.lock("a", LockType::WRITE)});
  std::optional<Hold> theirs = locks.lock("b").acquire(forever);
  int holds = 0;
  async_acquire(pair, 10s, 30s,
                asio::bind_executor(context, [&](std::exception_ptr error, Hold hold) {
                  ASSERT_FALSE(error);
                  EXPECT_TRUE(hold.covers("a") && hold.covers("b"));
                  ++holds;
                  async_release(std::move(hold),
                                asio::bind_executor(context, [&](std::exception_ptr, bool held) {
                                  EXPECT_TRUE(held);
                                  ++holds;
                                }));
                }));
  EXPECT_EQ(locks.inspect("a").holders.size(), 1U) << "keys are taken in their order";
  theirs.reset();
  context.run();
  EXPECT_EQ(holds, 2);
  EXPECT_TRUE(locks.inspect("a").holders.empty());
  EXPECT_TRUE(locks.inspect("b").holders.empty());
}

TEST_F(AsioAcquire, BusySeveralGiveBackWhatTheyHold) {
  const Hold theirs = locks.lock("b").acquire(forever);
  const Lock pair = locks.all_of({locks.lock("a"), locks.lock("b")});
  run(context, [](Locks& locks, Lock pair) -> asio::awaitable<void> {
    EXPECT_FALSE(co_await async_try_acquire(pair, 10ms, 30s, asio::use_awaitable));
    EXPECT_TRUE(locks.inspect("a").holders.empty());
    EXPECT_THROW(static_cast<void>(co_await async_acquire(pair, 10ms, 30s, asio::use_awaitable)),
                 LockTimeout);
  }(locks, pair));
}

template <class T>
struct CountingAllocator {
  using value_type = T;
  explicit CountingAllocator(std::size_t& counted) noexcept : count(&counted) {}
  template <class U>
  CountingAllocator(const CountingAllocator<U>& other) noexcept : count(other.count) {}  // NOLINT

  T* allocate(std::size_t size) {
    ++*count;
    return std::allocator<T>().allocate(size);
  }
  void deallocate(T* what, std::size_t size) noexcept {
    std::allocator<T>().deallocate(what, size);
  }
  friend bool operator==(const CountingAllocator& one, const CountingAllocator& other) noexcept {
    return one.count == other.count;
  }
  std::size_t* count;
};

TEST_F(AsioAcquire, AssociatedAllocatorIsUsed) {
  std::size_t allocations = 0;
  async_acquire(
      locks.lock("k"), 1s, 30s,
      asio::bind_allocator(CountingAllocator<void*>(allocations),
                           asio::bind_executor(context, [](std::exception_ptr, Hold) {})));
  context.run();
  EXPECT_GT(allocations, 0U);
}

TEST_F(AsioAcquire, LostHoldIsReleasedAsLost) {
  ManualLocks manual;
  std::optional<Hold> held;
  async_acquire(manual.locks.lock("k"), 1s, 30s,
                asio::bind_executor(context, [&](std::exception_ptr, Hold hold) {
                  held.emplace(std::move(hold));
                }));
  context.run();
  manual.pass(31s);
  EXPECT_TRUE(held->lost());
  bool was_held = true;
  async_release(*std::move(held),
                asio::bind_executor(context, [&](std::exception_ptr, bool so) { was_held = so; }));
  context.restart();
  context.run();
  EXPECT_FALSE(was_held);
}

TEST_F(AsioAcquire, BlockingAcquireInACoroutineIsReportedOnce) {
  Recorder recorder;
  const Locks reported = Locks::connect("memory:", {.listener = &recorder});
  run(context, [](Locks locks) -> asio::awaitable<void> {
    const Hold hold =
        co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    EXPECT_FALSE(locks.lock("free").try_acquire(5ms)->lost()) << "it does not wait";
    EXPECT_FALSE(locks.lock("k").try_acquire(5ms));
    EXPECT_FALSE(locks.lock("k").try_acquire(5ms));
  }(reported));
  EXPECT_TRUE(reported.flush(patience));
  ASSERT_EQ(recorder.count(Event::Kind::warning), 1U);
  const Event warning = recorder.of(Event::Kind::warning).front();
  EXPECT_NE(std::string(warning.text).find("use co_await latchkey::async_acquire"),
            std::string::npos);
}

TEST_F(AsioAcquire, BlockingAcquireOfAnotherThreadIsNotReported) {
  Recorder recorder;
  const Locks reported = Locks::connect("memory:", {.listener = &recorder});
  std::optional<Hold> held;
  async_acquire(
      reported.lock("k"), forever, watchdog,
      asio::bind_executor(context, [&](auto, Hold hold) { held.emplace(std::move(hold)); }));
  context.run();
  EXPECT_FALSE(reported.lock("k").try_acquire(5ms));
  EXPECT_TRUE(reported.flush(patience));
  EXPECT_EQ(recorder.count(Event::Kind::warning), 0U);
}

TEST_F(AsioAcquire, HoldOutlivesItsLocks) {
  std::optional<Hold> held;
  {
    const Locks short_lived = Locks::connect("memory:");
    async_acquire(short_lived.lock("k"), forever, watchdog,
                  asio::bind_executor(context, [&](std::exception_ptr, Hold hold) {
                    held.emplace(std::move(hold));
                  }));
    context.run();
  }
  EXPECT_FALSE(held->lost());
  held.reset();
}

}  // namespace
}  // namespace latchkey::tests
