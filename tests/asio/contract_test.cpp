// The part of the backend contract that users of Locks see, by asynchronous operations.
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <latchkey/asio.hpp>
#include <latchkey/detail/testing/contract/locks.hpp>
#include <latchkey/quorum.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "memory/memory_backend.hpp"
#include "redis/redis_backend.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests::async_surface {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using Executor = asio::io_context::executor_type;

/// The handler of an operation that a thread waits for. It keeps no reference to an exception: what
/// counts them is not instrumented, so ThreadSanitizer would see a race with the thread.
template <class Result>
class Awaited {
 public:
  auto handler(Executor executor) {
    return asio::bind_executor(executor, [this](std::exception_ptr error, Result result) {
      error_ = std::move(error);
      result_.emplace(std::move(result));
      done_.release();
    });
  }
  Result get() {
    done_.acquire();
    if (error_) std::rethrow_exception(std::move(error_));
    return *std::move(result_);
  }

 private:
  std::binary_semaphore done_{0};
  std::exception_ptr error_;
  std::optional<Result> result_;
};

/// Acquires by operations whose handlers run in a context.
class AsyncLock : public Lock {
 public:
  AsyncLock(Lock lock, Executor executor) : Lock(std::move(lock)), executor_(executor) {}

  Hold acquire(Wait wait = forever, Lease lease = watchdog) {
    Awaited<Hold> awaited;
    async_acquire(*this, wait, lease, awaited.handler(executor_));
    return awaited.get();
  }
  std::optional<Hold> try_acquire(Wait wait = milliseconds(0), Lease lease = watchdog) {
    Awaited<std::optional<Hold>> awaited;
    async_try_acquire(*this, wait, lease, awaited.handler(executor_));
    return awaited.get();
  }

 private:
  Executor executor_;
};

struct AsyncReadWriteLock {
  AsyncLock both[2];
  AsyncLock read() { return both[0]; }
  AsyncLock write() { return both[1]; }
};

/// The owner of an operation is the thread that starts it.
class AsyncLocks : public Locks {
 public:
  AsyncLocks(Locks locks, Executor executor) : Locks(std::move(locks)), executor_(executor) {}

  AsyncLock lock(std::string key, LockType type = LockType::REENTRANT) {
    return {with_owner(Owner::this_thread()).lock(std::move(key), type), executor_};
  }
  AsyncReadWriteLock read_write(const std::string& key) {
    return {{lock(key, LockType::READ), lock(key, LockType::WRITE)}};
  }

 private:
  Executor executor_;
};

/// Runs the context until the end of the test.
class OnOneThread {
 public:
  AsyncLocks surface(Locks locks) { return {std::move(locks), context_.get_executor()}; }

 private:
  asio::io_context context_;
  asio::executor_work_guard<Executor> work_{context_.get_executor()};
  std::jthread thread_{[this] { context_.run(); }};

 public:
  OnOneThread() = default;
  OnOneThread(const OnOneThread&) = delete;
  OnOneThread& operator=(const OnOneThread&) = delete;
  ~OnOneThread() { work_.reset(); }
};

std::string fresh(const char* what) {
  static std::atomic<int> last = 0;
  return what + std::to_string(++last);
}

/// Never destroyed: a space ends when the last release that nobody waits for does.
::latchkey::testing::ManualClock& manual_clock() {
  static auto& made = *new ::latchkey::testing::ManualClock;
  return made;
}

struct Memory : OnOneThread {
  /// Time passes by this much each 10 ms, so a hand-off may take half a second of real time.
  static constexpr milliseconds unit{20};

  std::unique_ptr<Backend> backend() { return detail::make_memory_backend(uri, options()); }
  std::string fresh_key() { return fresh("key"); }
  void pass(milliseconds time) { manual_clock().advance(time); }
  Options options() { return {.clock = &manual_clock()}; }

  const std::string uri = fresh("memory:async");
};

struct Quorum : Memory {
  static constexpr milliseconds unit{1'000};

  std::unique_ptr<Backend> backend() {
    std::vector<std::unique_ptr<Backend>> all;
    for (int number = 0; number < 3; ++number) {
      all.push_back(detail::make_memory_backend(uri + "." + std::to_string(number), options()));
    }
    return make_quorum(std::move(all), options());
  }
};

struct Redis : OnOneThread {
  static RedisServer& server() {
    static RedisServer running;
    return running;
  }
  std::unique_ptr<Backend> backend() {
    return detail::redis::make_redis_backend(server().unix_uri(), options());
  }
  std::string fresh_key() { return fresh("key:"); }
  // sleeps: leases end by real time
  void pass(milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

}  // namespace
}  // namespace latchkey::tests::async_surface

namespace latchkey::testing::contract {
INSTANTIATE_TYPED_TEST_SUITE_P(AsioMemory, BackendLocks, tests::async_surface::Memory);
INSTANTIATE_TYPED_TEST_SUITE_P(AsioQuorum, BackendLocks, tests::async_surface::Quorum);
INSTANTIATE_TYPED_TEST_SUITE_P(AsioRedis, BackendLocks, tests::async_surface::Redis);
}  // namespace latchkey::testing::contract
