// A leader whose work is a coroutine.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "asio/fixture.hpp"
#include "support/recorder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

asio::awaitable<void> until_cancelled() {
  asio::steady_timer never(co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max());
  co_await never.async_wait(asio::use_awaitable);
}

class AsioLead : public ::testing::Test {
 protected:
  asio::io_context context;
  Recorder recorder;
  Locks locks = Locks::connect("memory:", {.listener = &recorder});
};

TEST_F(AsioLead, WorkThatReturnsEndsItIfSoChosen) {
  std::uint64_t led = 0;
  const auto use = [&]() -> asio::awaitable<void> {
    const LeaderCoroutine work = [&](std::uint64_t term) -> asio::awaitable<void> {
      EXPECT_TRUE(context.get_executor().running_in_this_thread());
      led = term;
      co_return;
    };
    co_await async_lead(locks, "leader", work, {.after_return = AfterReturn::end},
                        asio::use_awaitable);
    EXPECT_TRUE(locks.inspect("leader").holders.empty());
  };
  run(context, use());
  EXPECT_GT(led, 0U);
}

TEST_F(AsioLead, CancellationEndsTheWorkAndReleasesTheLock) {
  asio::cancellation_signal signal;
  std::exception_ptr ended;
  bool work_was_cancelled = false;
  const LeaderCoroutine work = [&](std::uint64_t) -> asio::awaitable<void> {
    asio::post(context, [&] { signal.emit(asio::cancellation_type::total); });
    try {
      co_await until_cancelled();
    } catch (const boost::system::system_error&) {
      work_was_cancelled = true;
      throw;
    }
  };
  async_lead(locks, "leader", work,
             asio::bind_cancellation_slot(
                 signal.slot(), asio::bind_executor(context, [&](std::exception_ptr error) {
                   ended = std::move(error);
                   EXPECT_TRUE(locks.inspect("leader").holders.empty());
                 })));
  context.run();
  EXPECT_TRUE(work_was_cancelled);
  EXPECT_THROW(rethrow(ended), Cancelled);
  EXPECT_EQ(recorder.of(Kind::hidden_error).size(), 0U);
}

TEST_F(AsioLead, WorkThatThrowsIsReportedAndLedAnew) {
  std::vector<std::uint64_t> terms;
  const auto use = [&]() -> asio::awaitable<void> {
    const LeaderCoroutine work = [&](std::uint64_t term) -> asio::awaitable<void> {
      terms.push_back(term);
      if (terms.size() < 2) throw std::runtime_error("the printer burns");
      co_return;
    };
    co_await async_lead(locks, "leader", work, {.after_return = AfterReturn::end, .pause = 1ms},
                        asio::use_awaitable);
  };
  run(context, use());
  ASSERT_EQ(terms.size(), 2U);
  EXPECT_LT(terms[0], terms[1]);
  ASSERT_TRUE(recorder.await(Kind::hidden_error));
}

TEST_F(AsioLead, LossOfTheLockCancelsTheWork) {
  const Locks fast = Locks::connect("memory:", {.watchdog = 300ms});
  int terms = 0;
  const auto use = [&]() -> asio::awaitable<void> {
    const LeaderCoroutine work = [&](std::uint64_t) -> asio::awaitable<void> {
      if (++terms == 2) co_return;
      EXPECT_TRUE(fast.force_release("leader"));
      co_await until_cancelled();
    };
    co_await async_lead(fast, "leader", work, {.after_return = AfterReturn::end, .pause = 1ms},
                        asio::use_awaitable);
  };
  run(context, use());
  EXPECT_EQ(terms, 2);
}

TEST_F(AsioLead, CloseEndsIt) {
  const Hold other = locks.lock("leader", LockType::FENCED).acquire(forever);
  std::exception_ptr ended;
  async_lead(
      locks, "leader", [](std::uint64_t) { return until_cancelled(); },
      asio::bind_executor(context, [&](std::exception_ptr error) { ended = std::move(error); }));
  locks.close(0ms);
  context.run();
  EXPECT_THROW(rethrow(ended), Closed);
}

TEST_F(AsioLead, ErrorsNameTheKeyAsItWasGiven) {
  const Locks prefixed = Locks::connect("memory:", {.prefix = "app:"});
  const Hold other = prefixed.lock("leader", LockType::FENCED).acquire(forever);
  std::exception_ptr ended;
  async_lead(
      prefixed, "leader", [](std::uint64_t) { return until_cancelled(); },
      asio::bind_executor(context, [&](std::exception_ptr error) { ended = std::move(error); }));
  prefixed.close(0ms);
  context.run();
  try {
    rethrow(ended);
    FAIL() << "it had no error";
  } catch (const Closed& error) {
    EXPECT_EQ(error.key(), "leader");
  }
}

TEST_F(AsioLead, EndOfTheContextReleasesTheLock) {
  {
    asio::io_context ends;
    async_lead(
        locks, "leader", [](std::uint64_t) { return until_cancelled(); },
        asio::bind_executor(ends, [](const std::exception_ptr&) { ADD_FAILURE(); }));
    ASSERT_TRUE(recorder.await(Kind::elected));
    ends.poll();
  }
  EXPECT_TRUE(recorder.await(Kind::term_ended));
  EXPECT_NO_THROW(static_cast<void>(locks.lock("leader", LockType::FENCED).acquire(1min)));
}

// The request to stop was posted to a strand that nobody runs any more, and the two kept each
// other. Only the leak detector sees that.
TEST_F(AsioLead, ContextThatEndsAsATermBeginsLeavesNothing) {
  for (int round = 0; round < 200; ++round) {
    asio::io_context ends;
    async_lead(
        locks, "leader", [](std::uint64_t) { return until_cancelled(); },
        asio::bind_executor(ends, [](const std::exception_ptr&) { ADD_FAILURE(); }));
    EXPECT_TRUE(eventually([&] { return !locks.inspect("leader").holders.empty(); }));
  }
}

/// Shuts down with its context, at first of all services that the context has when this is made.
class ShutdownNotice final : public asio::execution_context::service {
 public:
  using key_type = ShutdownNotice;
  static asio::execution_context::id id;

  explicit ShutdownNotice(asio::execution_context& context) : service(context) {}
  std::function<void()> on_shutdown{};

 private:
  /// Newer versions of Boost shut the services of an io_context down twice.
  void shutdown() override {
    if (on_shutdown) std::exchange(on_shutdown, nullptr)();
  }
};
asio::execution_context::id ShutdownNotice::id;

/// An io_context's, which tells when a thread other than that of the test asks it anything.
class WatchedExecutor {
 public:
  using OnQuery = std::shared_ptr<const std::function<void()>>;

  WatchedExecutor(asio::io_context::executor_type inner, OnQuery on_query)
      : inner_(inner), on_query_(std::move(on_query)) {}

  template <class Function>
  void execute(Function&& function) const {
    inner_.execute(std::forward<Function>(function));
  }
  [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
    if (std::this_thread::get_id() != thread_) (*on_query_)();
    return inner_.context();
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  friend bool operator==(const WatchedExecutor&, const WatchedExecutor&) noexcept = default;

 private:
  asio::io_context::executor_type inner_;
  OnQuery on_query_;
  std::thread::id thread_ = std::this_thread::get_id();
};

// The thread of the Leader made the strand of its term when the strands of the context had been
// shut down: what it posted kept the strand, and the strand kept it.
TEST_F(AsioLead, TermThatBeginsWhileTheContextShutsDownLeavesNothing) {
  const auto in_coroutine = std::make_shared<bool>();
  std::promise<void> begun;
  std::promise<void> shut_down;
  const auto on_query = std::make_shared<const std::function<void()>>(
      [is_shut_down = shut_down.get_future().share()] { is_shut_down.wait(); });
  {
    asio::io_context ends;
    const auto work = [&begun, kept = std::weak_ptr(in_coroutine)](std::uint64_t) {
      begun.set_value();
      return [](std::shared_ptr<bool>) -> asio::awaitable<void> {
        co_await until_cancelled();
      }(kept.lock());
    };
    async_lead(locks, "leader", work,
               asio::bind_executor(WatchedExecutor(ends.get_executor(), on_query),
                                   [](const std::exception_ptr&) { ADD_FAILURE(); }));
    EXPECT_TRUE(recorder.await(Kind::elected));
    asio::use_service<ShutdownNotice>(ends).on_shutdown = [&] {
      shut_down.set_value();
      begun.get_future().wait();
    };
  }
  EXPECT_EQ(in_coroutine.use_count(), 1);
}

TEST_F(AsioLead, BadArgumentsAreErrorsOfTheOperation) {
  const auto use = [&]() -> asio::awaitable<void> {
    const LeaderCoroutine none;
    EXPECT_THROW(co_await async_lead(locks, "leader", none, asio::use_awaitable),
                 std::invalid_argument);
    const LeaderCoroutine work = [](std::uint64_t) { return until_cancelled(); };
    EXPECT_THROW(co_await async_lead(locks, "", work, asio::use_awaitable), KeyError);
  };
  run(context, use());
}

}  // namespace
}  // namespace latchkey::tests
