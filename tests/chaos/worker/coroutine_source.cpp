// Locks with latchkey's coroutines: all acquires and releases of a process are on one thread, which
// also does the I/O.
// SPDX-License-Identifier: BSL-1.0
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <latchkey/asio.hpp>

#include <atomic>
#include <thread>
#include <utility>
#include <variant>

#include "chaos/worker/latchkey_locks.hpp"

namespace latchkey::chaos {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<std::optional<Hold>> acquire_on_loop(Lock lock, Wait wait, Lease lease) {
  co_return co_await async_try_acquire(std::move(lock), wait, lease, asio::use_awaitable);
}

/// Gives up by cancellation instead of by its wait. A grant that comes too late is given back.
asio::awaitable<std::optional<Hold>> acquire_or_cancel(Lock lock, Wait wait, Lease lease,
                                                       std::chrono::milliseconds patience) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor, patience);
  std::variant<std::optional<Hold>, std::monostate> first =
      co_await (async_try_acquire(std::move(lock), wait, lease, asio::use_awaitable) ||
                timer.async_wait(asio::use_awaitable));
  if (first.index() == 1) co_return std::nullopt;
  co_return std::move(std::get<0>(first));
}

/// Takes `hold` only when it runs: without memory for its frame, the hold stays where it is.
asio::awaitable<bool> release_on_loop(Hold& hold) {
  co_return co_await async_release(std::move(hold), asio::use_awaitable);
}

class CoroutineHold final : public LatchkeyHold {
 public:
  CoroutineHold(asio::io_context& loop, Hold hold) : LatchkeyHold(std::move(hold)), loop_(loop) {}
  bool release() override {
    if (hold_.lost()) return hold_.release();  // in a forked child no coroutine continues
    return asio::co_spawn(loop_, release_on_loop(hold_), asio::use_future).get();
  }

 private:
  asio::io_context& loop_;
};

class CoroutineSources final : public LockSources {
 public:
  explicit CoroutineSources(const std::string& uri)
      : uri_(uri),
        locks_(connect_worker(uri)),
        work_(asio::make_work_guard(loop_)),
        thread_([this] { loop_.run(); }) {
    use_thread_pool(locks_, blocking_attempts_);
  }
  ~CoroutineSources() override {
    locks_.close(2s);
    work_.reset();
  }
  CoroutineSources(const CoroutineSources&) = delete;
  CoroutineSources& operator=(const CoroutineSources&) = delete;

  std::unique_ptr<LockSource> make(std::uint32_t /*thread*/) override {
    return std::make_unique<Source>(*this);
  }

 private:
  class Source final : public LockSource {
   public:
    explicit Source(CoroutineSources& all) : all_(all) {}
    std::unique_ptr<HeldLock> acquire(const Request& request) override {
      if (request.type == LockType::PERMIT) return acquire_blocking(all_.locks_, request);
      Lock lock = all_.locks_.lock(name_of_key(request.key), request.type);
      const bool cancels = ++acquires_ % 8 == 0;
      std::optional<Hold> hold =
          asio::co_spawn(all_.loop_,
                         cancels ? acquire_or_cancel(std::move(lock), request.wait, request.lease,
                                                     std::chrono::milliseconds(acquires_ % 64))
                                 : acquire_on_loop(std::move(lock), request.wait, request.lease),
                         asio::use_future)
              .get();
      if (!hold) return nullptr;
      return std::make_unique<CoroutineHold>(all_.loop_, std::move(*hold));
    }
    std::unique_ptr<HeldLock> acquire_without_threads(const Request& request) override {
      return chaos::acquire_without_threads(all_.uri_, request);
    }

   private:
    CoroutineSources& all_;
    unsigned acquires_ = 0;
  };

  const std::string uri_;
  asio::thread_pool blocking_attempts_{4};  // for a store whose client blocks
  Locks locks_;
  asio::io_context loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::jthread thread_;  // ends before the loop
};

}  // namespace

std::unique_ptr<LockSources> coroutine_sources(const std::string& uri) {
  return std::make_unique<CoroutineSources>(uri);
}

}  // namespace latchkey::chaos
