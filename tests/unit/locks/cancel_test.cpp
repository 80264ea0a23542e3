// Waits that a stop token ends.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/backend.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/quorum.hpp>

#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;

class CancelTest : public ::testing::TestWithParam<LockType>, public ManualLocks {
 protected:
  [[nodiscard]] Attempt attempt(const std::stop_source& stop) const {
    Attempt made;
    made.type = GetParam();
    made.wait = forever;
    made.cancel = stop.get_token();
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(EveryType, CancelTest,
                         ::testing::Values(LockType::REENTRANT, LockType::FAIR, LockType::READ,
                                           LockType::WRITE, LockType::FENCED),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST_P(CancelTest, CancelBeforeTheWaitEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  const LockType blocking = GetParam() == LockType::READ ? LockType::WRITE : GetParam();
  {
    const Hold theirs = another().lock("k", blocking).acquire(forever);
    EXPECT_THROW(static_cast<void>(locks.acquire("k", attempt(stop))), Cancelled);
    EXPECT_THROW(static_cast<void>(locks.try_acquire("k", attempt(stop))), Cancelled);
  }
  EXPECT_TRUE(locks.inspect("k").queue.empty());
}

// Most calls granted a free lock although they were already cancelled.
TEST_P(CancelTest, CancelBeforeTheCallSendsNothing) {
  std::stop_source stop;
  stop.request_stop();
  Attempt once = attempt(stop);
  once.wait = 0ms;
  for (const Attempt& each : {attempt(stop), once}) {
    EXPECT_THROW(static_cast<void>(locks.acquire("k", each)), Cancelled);
    EXPECT_THROW(static_cast<void>(locks.try_acquire("k", each)), Cancelled);
    const std::vector<std::string> keys{"a", "b"};
    EXPECT_THROW(static_cast<void>(locks.acquire_all(keys, each)), Cancelled);
    EXPECT_THROW(static_cast<void>(locks.try_acquire_all(keys, each)), Cancelled);
  }
  EXPECT_TRUE(locks.list().empty());
  const Hold outer = locks.acquire("k", attempt({}));
  EXPECT_THROW(static_cast<void>(locks.acquire("k", attempt(stop))), Cancelled) << "re-entry";
}

/// Counts requests and never replies.
class CountingBackend final : public Backend {
 public:
  explicit CountingBackend(std::atomic<std::size_t>& requests_sent) : requests_(requests_sent) {}
  [[nodiscard]] Capabilities capabilities() const noexcept override { return {}; }
  [[nodiscard]] std::string describe() const override { return "counting"; }
  void submit(std::span<Request* const> requests, Sink& /*sink*/) override {
    requests_ += requests.size();
  }
  void drive(Parker& parker, Clock::time_point until) override {
    parker.park_until(Clock::system(), until);
  }

 private:
  std::atomic<std::size_t>& requests_;
};

TEST(CancelBeforeTheCall, SendsNoRequest) {
  std::stop_source stop;
  stop.request_stop();
  Attempt made;
  made.cancel = stop.get_token();
  std::atomic<std::size_t> requests_sent = 0;
  std::vector<std::unique_ptr<Backend>> servers;
  for (int server = 0; server < 3; ++server) {
    servers.push_back(std::make_unique<CountingBackend>(requests_sent));
  }
  const Locks one(std::make_unique<CountingBackend>(requests_sent));
  const Locks quorum(make_quorum(std::move(servers)));
  const std::vector<std::string> keys{"a", "b"};
  for (const Locks& each : {one, quorum}) {
    EXPECT_THROW(static_cast<void>(each.acquire("k", made)), Cancelled);
    EXPECT_EQ(requests_sent, 0U) << each.describe();
    EXPECT_THROW(static_cast<void>(each.try_acquire("k", made)), Cancelled);
    EXPECT_EQ(requests_sent, 0U) << each.describe();
    EXPECT_THROW(static_cast<void>(each.acquire_all(keys, made)), Cancelled);
    EXPECT_EQ(requests_sent, 0U) << each.describe();
  }
}

TEST_P(CancelTest, CancelDuringTheWaitEndsIt) {
  std::stop_source stop;
  const LockType blocking = GetParam() == LockType::READ ? LockType::WRITE : GetParam();
  Hold theirs = another().lock("k", blocking).acquire(forever);
  auto first = std::async(std::launch::async, [&] {
    EXPECT_THROW(static_cast<void>(locks.acquire("k", attempt(stop))), Cancelled);
  });
  ASSERT_TRUE(clock.await_sleepers(2));
  auto second = std::async(std::launch::async, [&] { return locks.acquire("k", attempt({})); });
  ASSERT_TRUE(clock.await_sleepers(3));
  stop.request_stop();
  first.get();
  EXPECT_TRUE(theirs.release());
  EXPECT_TRUE(second.get().release());  // the cancelled waiter blocks no other
  EXPECT_TRUE(locks.list().empty());
}

TEST_P(CancelTest, CancelAfterTheWaitHasNoEffect) {
  std::stop_source stop;
  Hold hold = locks.acquire("k", attempt(stop));
  stop.request_stop();
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
}

// The token may be used at the very moment at which the wait ends by itself.
TEST_P(CancelTest, CancelMayRaceWithTheEndOfTheWait) {
  const Locks real = Locks::connect("memory:");
  const LockType blocking = GetParam() == LockType::READ ? LockType::WRITE : GetParam();
  const Hold theirs = real.with_owner(Owner::make()).lock("k", blocking).acquire(forever);
  for (int round = 0; round < 100; ++round) {
    std::stop_source stop;
    Attempt made = attempt(stop);
    made.wait = 1ms;
    std::thread canceller([&] {
      // sleeps: the request comes at another moment of the call in each round
      std::this_thread::sleep_for(std::chrono::microseconds(900 + 3 * round));
      stop.request_stop();
    });
    try {
      EXPECT_FALSE(real.try_acquire("k", made).has_value());
    } catch (const Cancelled&) {
    }
    canceller.join();
  }
}

}  // namespace
}  // namespace latchkey
