// Execution contexts that end, and what keeps them running.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>

#include "asio/fixture.hpp"
#include "support/child.hpp"
#include "support/polling.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// Sets a flag when it is destroyed.
struct Witness {
  explicit Witness(bool& destroyed) noexcept : flag(&destroyed) {}
  Witness(Witness&& other) noexcept : flag(std::exchange(other.flag, nullptr)) {}
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (flag != nullptr) *flag = true;
  }
  bool* flag;
};

void expect_pending_operations_to_end_with_their_context(const Locks& locks) {
  bool destroyed = false;
  std::optional<Hold> theirs = locks.lock("k").acquire(forever);
  {
    asio::io_context context;
    async_acquire(locks.lock("k"), forever, watchdog,
                  asio::bind_executor(context, [witness = Witness(destroyed)](auto, Hold) {
                    ADD_FAILURE() << "the handler was called";
                  }));
    context.run_for(10ms);
    EXPECT_FALSE(destroyed);
  }
  EXPECT_TRUE(destroyed);
  theirs.reset();
  EXPECT_TRUE(locks.lock("k").try_acquire(5s));
}

TEST(AsioContext, EndsWithPendingOperationsInMemory) {
  expect_pending_operations_to_end_with_their_context(Locks::connect("memory:"));
}

TEST(AsioContext, EndsWithPendingOperationsOnRedis) {
  const RedisServer server;
  expect_pending_operations_to_end_with_their_context(Locks::connect(server.unix_uri()));
}

TEST(AsioContext, EndsWithAnUncalledGrant) {
  const Locks locks = Locks::connect("memory:");
  {
    asio::io_context context;
    async_acquire(locks.lock("k"), forever, watchdog,
                  asio::bind_executor(context, [](auto, Hold) {}));
  }
  EXPECT_TRUE(locks.lock("k").try_acquire(5s));
}

/// No descriptor is free while it exists.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Found by make chaos: no page said so.
TEST(AsioContext, TheFirstOperationWithoutAFreeDescriptorEndsWithBadAllocAndTheNextOneTriesAgain) {
  const RedisServer server;
  const Locks locks = Locks::connect(server.unix_uri());
  EXPECT_TRUE(locks.lock("k").try_acquire());
  asio::io_context context;
  const auto acquire = [](Locks locks) -> asio::awaitable<void> {
    Hold hold = co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    EXPECT_TRUE(co_await async_release(std::move(hold), asio::use_awaitable));
  };
  {
    const NoDescriptors none;
    EXPECT_THROW(run(context, acquire(locks)), std::bad_alloc);
    EXPECT_THROW(run(context, acquire(locks)), std::bad_alloc);
  }
  run(context, acquire(locks));
}

TEST(AsioContext, RunReturnsWhenNoOperationIsLeft) {
  const RedisServer server;
  const Locks locks = Locks::connect(server.unix_uri());
  asio::io_context context;
  for (int round = 0; round < 3; ++round) {
    run(context, [](Locks locks) -> asio::awaitable<void> {
      Hold hold = co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
      EXPECT_TRUE(co_await async_release(std::move(hold), asio::use_awaitable));
    }(locks));
  }
}

TEST(AsioContext, LocksMayEndBeforeTheContext) {
  const RedisServer server;
  asio::io_context context;
  for (int round = 0; round < 3; ++round) {
    run(context, [](Locks locks) -> asio::awaitable<void> {
      const Hold hold =
          co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
    }(Locks::connect(server.unix_uri())));
  }
}

// The thread that brought the reply deleted the space, and with it the backend that it was in and
// itself: the process ended.
TEST(AsioContext, AReleaseWhoseReplyComesAfterTheContextAndTheLocksEndsTheConnection) {
  RedisServer server;
  std::optional<Locks> locks = Locks::connect(server.unix_uri());
  Hold hold = locks->lock("k").acquire(forever);
  std::optional<asio::io_context> context(std::in_place);
  server.stop();
  async_release(std::move(hold), asio::bind_executor(*context, [](const std::exception_ptr&, bool) {
                  ADD_FAILURE() << "the handler was called";
                }));
  context.reset();
  locks.reset();
  server.resume();
  RedisClient client = server.client();
  await("the end of the connection", [&] {
    const std::string list = client({"CLIENT", "LIST"}).text();
    return list.find("name=latchkey") == std::string::npos ? std::string() : list;
  });
  EXPECT_EQ(client({"EXISTS", "k"}).integer(), 0);
}

/// The inherited hold is lost, and its release does nothing. No operation reads its space, which
/// may be deleted.
void expect_lost(Findings& findings, Hold& hold) {
  asio::io_context context;
  run(context, [](Findings& findings, Hold& hold) -> asio::awaitable<void> {
    CHILD_EXPECT(findings, !co_await async_extend(hold, 1min, asio::use_awaitable));
    CHILD_EXPECT(findings, !co_await async_release(std::move(hold), asio::use_awaitable));
  }(findings, hold));
}

// They read the deleted space of the hold.
TEST(AsioContext, OperationsOnAnInheritedHoldDoNotLookAtItsSpace) {
  std::optional<Locks> locks = Locks::connect("memory:");
  Hold one = locks->lock("one").acquire(forever);
  const std::vector<std::string> keys{"a", "b"};
  Hold several = locks->acquire_all(keys, Attempt{});
  EXPECT_EQ(in_child([&](Findings& findings) {
              expect_lost(findings, one);
              locks.reset();
              expect_lost(findings, several);
            }),
            "");
  EXPECT_TRUE(one.release());
  EXPECT_TRUE(several.release());
}

TEST(AsioContext, ThreadPoolRunsCoroutines) {
  const Locks locks = Locks::connect("memory:");
  asio::thread_pool pool(2);
  int sum = 0;
  for (int each = 0; each < 100; ++each) {
    asio::co_spawn(
        pool,
        [](Locks locks, int& sum) -> asio::awaitable<void> {
          const Hold hold =
              co_await async_acquire(locks.lock("k"), forever, watchdog, asio::use_awaitable);
          ++sum;
        }(locks, sum),
        asio::detached);
  }
  pool.join();
  EXPECT_EQ(sum, 100);
}

}  // namespace
}  // namespace latchkey::tests
