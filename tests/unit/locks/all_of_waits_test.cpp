// all_of() while another owner holds one of the keys: waits, and how they end.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <latchkey/backend.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/parker.hpp>

#include "memory/memory_backend.hpp"
#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;

class AllOfWaits : public ::testing::Test, public ManualLocks {
 protected:
  [[nodiscard]] bool locked(std::string_view key) const { return locks.inspect(key).locked; }
  [[nodiscard]] Lock both(LockType type = LockType::WRITE) const {
    return locks.all_of({locks.lock("b", type), locks.lock("a", type)});
  }
};

// Held keys must not run out while the rest is awaited, however much longer that takes, and all
// have the full lease in the end.
TEST_F(AllOfWaits, HeldKeysAreRenewedWhileTheOthersAreAwaited) {
  Hold theirs = another().lock("b", LockType::FAIR).acquire(0ms, 1h);
  Lock all = both(LockType::FAIR);
  auto mine = std::async(std::launch::async, [&] { return all.acquire(10min, 3s); });
  ASSERT_TRUE(tests::eventually([&] { return !locks.inspect("b").queue.empty(); }));
  for (int second = 0; second < 30; ++second) {
    ASSERT_TRUE(clock.await_sleepers(2));
    clock.advance(1s);
    ASSERT_TRUE(clock.await_sleepers(2));
    ASSERT_TRUE(locked("a")) << "after " << second << " s";
  }
  EXPECT_TRUE(theirs.release());
  Hold hold = mine.get();
  EXPECT_EQ(hold.remaining(), 2'970ms);
  EXPECT_TRUE(locked("a") && locked("b"));
  // From now on it has an explicit lease, which is not renewed.
  clock.advance(3s);
  EXPECT_TRUE(hold.lost());
}

TEST_F(AllOfWaits, AKeyLostDuringTheWaitIsAcquiredAgain) {
  Hold theirs = another().lock("b", LockType::FAIR).acquire(0ms, 1h);
  Lock all = both(LockType::FAIR);
  auto mine = std::async(std::launch::async, [&] { return all.acquire(10min, 3s); });
  ASSERT_TRUE(tests::eventually([&] { return !locks.inspect("b").queue.empty(); }));
  ASSERT_TRUE(locks.force_release("a"));
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(1s);  // the next check finds it out
  ASSERT_TRUE(clock.await_sleepers(2));
  EXPECT_TRUE(theirs.release());
  const Hold hold = mine.get();
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(locked("a") && locked("b"));
}

TEST_F(AllOfWaits, CancelEndsTheWaitWithNothingHeld) {
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    const Hold theirs = another().lock("b", type).acquire(0ms, 1h);
    std::stop_source stop;
    Attempt attempt{.type = type, .wait = forever, .lease = 3s, .cancel = stop.get_token()};
    const std::array<std::string, 2> keys{"a", "b"};
    auto mine = std::async(std::launch::async, [&] {
      EXPECT_THROW(static_cast<void>(locks.acquire_all(keys, attempt)), Cancelled);
    });
    ASSERT_TRUE(clock.await_sleepers(2));
    stop.request_stop();
    mine.get();
    EXPECT_FALSE(locked("a"));
  }
}

TEST_F(AllOfWaits, CloseEndsWaitsAndHolds) {
  Hold hold = locks.all_of({locks.lock("c"), locks.lock("d")}).acquire(forever);
  const Hold theirs = another().lock("b").acquire(forever);
  Lock all = both(LockType::REENTRANT);
  auto mine = std::async(std::launch::async, [&] {
    EXPECT_THROW(static_cast<void>(all.acquire(forever, 3s)), Closed);
  });
  ASSERT_TRUE(clock.await_sleepers(2));
  locks.close(0ms);
  mine.get();
  EXPECT_TRUE(hold.lost());
  EXPECT_FALSE(hold.release());
  EXPECT_TRUE(locks.list().empty());
}

/// The memory backend. Each acquire is attempted when the test says so.
class HesitantBackend final : public Backend {
 public:
  explicit HesitantBackend(Clock& clock)
      : inner_(detail::make_memory_backend("memory:hesitant", {.clock = &clock})) {}

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return inner_->capabilities();
  }
  [[nodiscard]] std::string describe() const override { return "hesitant"; }
  void submit(std::span<Request* const> requests, Sink& sink) override {
    for (Request* const request : requests) {
      const std::lock_guard lock(mutex_);
      if (request->verb == Verb::acquire_all || request->verb == Verb::acquire) {
        kept_.push_back({request, &sink});
      } else {
        inner_->submit({&request, 1}, sink);
      }
    }
  }
  void drive(Parker& parker, Clock::time_point until) override { inner_->drive(parker, until); }

  /// How many are kept.
  [[nodiscard]] std::size_t kept() {
    const std::lock_guard lock(mutex_);
    return kept_.size();
  }
  void attempt_oldest() {
    Kept oldest = [&] {
      const std::lock_guard lock(mutex_);
      const Kept first = kept_.front();
      kept_.pop_front();
      return first;
    }();
    inner_->submit({&oldest.request, 1}, *oldest.sink);
    inner_->drive(Parker::mine(), Clock::time_point{});  // brings the outcome to the sink
  }

 private:
  struct Kept {
    Request* request;
    Sink* sink;
  };

  std::unique_ptr<Backend> inner_;
  std::mutex mutex_;
  std::deque<Kept> kept_;
};

// The reply about `b` counted as one that `a` is busy.
TEST_F(AllOfWaits, AKeyThatWasNotTheBusyOneIsNotBusyForTheNextWaiter) {
  const Locks theirs = Locks::connect("memory:hesitant", {.clock = &clock});
  const Hold held = theirs.lock("b").acquire(0ms, 1h);
  auto made = std::make_unique<HesitantBackend>(clock);
  HesitantBackend& backend = *made;
  const Locks ours(std::move(made), {.clock = &clock, .listener = &recorder});
  auto first = std::async(std::launch::async, [&] {
    return ours.all_of({ours.lock("a"), ours.lock("b")}).try_acquire().has_value();
  });
  ASSERT_TRUE(tests::eventually([&] { return backend.kept() == 1; }));
  auto second = std::async(std::launch::async, [&] {
    EXPECT_THROW(static_cast<void>(ours.lock("a").try_acquire(1s)), BackendUnavailable);
  });
  ASSERT_TRUE(recorder.await(Event::Kind::waiting));
  backend.attempt_oldest();
  EXPECT_FALSE(first.get());
  ASSERT_TRUE(tests::eventually([&] { return backend.kept() == 1; }));
  ASSERT_TRUE(clock.await_sleepers(2));  // the timer thread of the holder, and the waiter
  clock.advance(2s);
  second.get();
  backend.attempt_oldest();
}

class Opposite : public ::testing::TestWithParam<const char*> {
 protected:
  static Locks open(const char* how) {
    if (std::string_view(how) == "memory") return Locks::connect("memory:");
    static tests::Faults fair;
    return Locks(std::make_unique<tests::FailingBackend>(fair));
  }
};

// The memory backend acquires all keys in one request. The other backend has no such request.
INSTANTIATE_TEST_SUITE_P(Together, Opposite, ::testing::Values("memory", "one_by_one"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Opposite, DirectionsNeverDeadlock) {
  const Locks locks = open(GetParam());
  int money[3] = {1'000, 1'000, 1'000};
  const int turns = std::string_view(GetParam()) == "memory" ? 500 : 40;
  const auto transfer = [&](int from, int to) {
    Lock both = locks.all_of({locks.lock(std::to_string(from)), locks.lock(std::to_string(to))});
    for (int round = 0; round < turns; ++round) {
      const Hold hold = both.acquire(forever, 30s);
      --money[from];
      ++money[to];
    }
  };
  std::thread there([&] { transfer(0, 1); });
  std::thread back([&] { transfer(1, 0); });
  std::thread round([&] { transfer(1, 2); });
  std::thread on([&] { transfer(2, 0); });
  there.join();
  back.join();
  round.join();
  on.join();
  EXPECT_EQ(money[0], 1'000 + turns);
  EXPECT_EQ(money[1], 1'000 - turns);
  EXPECT_EQ(money[2], 1'000);
}

}  // namespace
}  // namespace latchkey
