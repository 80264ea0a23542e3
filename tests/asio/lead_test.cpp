// A leader whose work is a coroutine.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
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
  const Hold other = locks.lock("leader", LockType::FENCED).acquire();
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
  const Hold other = prefixed.lock("leader", LockType::FENCED).acquire();
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
