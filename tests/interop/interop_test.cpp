// The same locks held from C++ and from Java: real Redisson on the other side.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/locks.hpp>

#include "interop/java_peer.hpp"
#include "support/recorder.hpp"
#include "support/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds watchdog_period{2'000};

struct Kind {
  LockType type;
  const char* java;
};

/// One server and one Java process for all tests; keys are the tests' own.
class Shared : public ::testing::Environment {
 public:
  void SetUp() override {
    server.emplace();
    java.emplace(server->tcp_uri(), watchdog_period);
  }
  void TearDown() override {
    java.reset();
    server.reset();
  }
  inline static std::optional<RedisServer> server;
  inline static std::optional<JavaPeer> java;
};
const auto* const shared = ::testing::AddGlobalTestEnvironment(new Shared);

class Interop : public ::testing::Test {
 protected:
  static std::string java(const std::string& actor, const std::string& what) {
    return Shared::java->ask(actor, what);
  }
  static Locks connect(Options options = {}) {
    options.watchdog = watchdog_period;
    return Locks::connect(Shared::server->tcp_uri(), std::move(options));
  }
  [[nodiscard]] std::string key() const {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->name());
    std::replace(name.begin(), name.end(), '/', '.');
    return name;
  }
  /// Prints and checks: a waiter that slept for a 30 s lease would take longer.
  static void expect_woken(const char* who, std::vector<steady_clock::duration> times) {
    std::sort(times.begin(), times.end());
    const auto median = std::chrono::duration<double, std::milli>(times[times.size() / 2]).count();
    std::printf("    wake-up of %s: median %.1f ms\n", who, median);
    EXPECT_LT(times.back(), 1s) << who;
  }

  /// Until somebody listens to the channels of this test's key.
  void await_subscriber() const {
    RedisClient client = Shared::server->client();
    EXPECT_TRUE(eventually(
        [&] { return !client({"PUBSUB", "CHANNELS", "*{" + key() + "}*"}).list().empty(); }));
  }

  Locks locks_ = connect();
};

class Exclusive : public Interop, public ::testing::WithParamInterface<Kind> {
 protected:
  [[nodiscard]] Lock lock() const { return locks_.lock(key(), GetParam().type); }
  [[nodiscard]] std::string about(const std::string& verb, const std::string& rest = "") const {
    return verb + " " + GetParam().java + " " + key() + (rest.empty() ? "" : " " + rest);
  }
};

TEST_P(Exclusive, EachKeepsTheOtherOut) {
  {
    const Hold hold = lock().acquire(0ms, 30s);
    EXPECT_EQ(java("a", about("try", "0 1000")), "false");
    EXPECT_EQ(java("a", about("locked")), "true");
  }
  ASSERT_EQ(java("a", about("try", "0 30000")), "true");
  EXPECT_FALSE(lock().try_acquire());
  EXPECT_EQ(java("a", about("unlock")), "true");
  EXPECT_TRUE(lock().try_acquire());
}

TEST_P(Exclusive, AReleaseWakesTheOtherSide) {
  std::vector<steady_clock::duration> cpp, other;
  for (int round = 0; round < 5; ++round) {
    Recorder recorder;
    const Locks waiting = connect({.listener = &recorder});
    ASSERT_EQ(java("a", about("try", "0 30000")), "true");
    std::atomic<steady_clock::duration::rep> granted{0};
    std::thread waiter([&] {
      const Hold hold = waiting.lock(key(), GetParam().type).acquire(20s, 30s);
      granted = steady_clock::now().time_since_epoch().count();
    });
    ASSERT_TRUE(recorder.await(Event::Kind::waiting));
    await_subscriber();
    const auto released = steady_clock::now();
    EXPECT_EQ(java("a", about("unlock")), "true");
    waiter.join();
    cpp.push_back(steady_clock::duration(granted) - released.time_since_epoch());

    std::optional<Hold> hold = lock().acquire(0ms, 30s);
    auto answer = Shared::java->begin("b", about("try", "20000 30000"));
    await_subscriber();
    const auto ours = steady_clock::now();
    hold.reset();
    EXPECT_EQ(answer.get(), "true");
    other.push_back(steady_clock::now() - ours);
    EXPECT_EQ(java("b", about("unlock")), "true");
  }
  expect_woken("C++ by Java", cpp);
  expect_woken("Java by C++", other);
}

TEST_P(Exclusive, ReentriesAreCountedOnBothSides) {
  ASSERT_EQ(java("a", about("try", "0 30000")), "true");
  ASSERT_EQ(java("a", about("try", "0 30000")), "true");
  EXPECT_EQ(java("a", about("count")), "2");
  EXPECT_EQ(java("a", about("unlock")), "true");
  EXPECT_FALSE(lock().try_acquire());
  EXPECT_EQ(java("a", about("unlock")), "true");

  std::optional<Hold> outer = lock().acquire(0ms, 30s);
  std::optional<Hold> inner = lock().acquire(0ms, 30s);
  inner.reset();
  EXPECT_EQ(java("a", about("try", "0 1000")), "false");
  outer.reset();
  EXPECT_EQ(java("a", about("try", "0 1000")), "true");
  EXPECT_EQ(java("a", about("unlock")), "true");
}

TEST_P(Exclusive, ALeaseThatRunsOutLetsTheOtherSideIn) {
  ASSERT_EQ(java("a", about("try", "0 300")), "true");
  std::optional<Hold> hold = lock().try_acquire(20s, 300ms);
  ASSERT_TRUE(hold);
  EXPECT_EQ(java("b", about("try", "20000 30000")), "true");
  EXPECT_TRUE(hold->lost()) << "it knew before the other was in";
  EXPECT_EQ(java("b", about("unlock")), "true");
}

TEST_P(Exclusive, BothWatchdogsOutliveTheirPeriod) {
  ASSERT_EQ(java("a", about("lock", "-1")), "true");
  EXPECT_FALSE(lock().try_acquire(2 * watchdog_period));
  EXPECT_EQ(java("a", about("unlock")), "true");

  const Hold hold = lock().acquire(5s);
  EXPECT_EQ(java("a", about("try", std::to_string(2 * watchdog_period.count()) + " 1000")),
            "false");
  EXPECT_FALSE(hold.lost());
}

TEST_P(Exclusive, AForcedReleaseIsNoticed) {
  const Hold hold = lock().acquire(0ms, 3s);
  EXPECT_EQ(java("a", about("force")), "true");
  EXPECT_TRUE(eventually([&] { return hold.lost(); }));

  ASSERT_EQ(java("a", about("try", "5000 30000")), "true");
  EXPECT_TRUE(locks_.force_release(key()));
  EXPECT_EQ(java("a", about("unlock")), GetParam().type == LockType::FAIR
                                            ? "true"  // Redisson says so of an expired fair lock
                                            : "error IllegalMonitorStateException");
}

INSTANTIATE_TEST_SUITE_P(Types, Exclusive,
                         ::testing::Values(Kind{LockType::REENTRANT, "plain"},
                                           Kind{LockType::FAIR, "fair"},
                                           Kind{LockType::WRITE, "write"},
                                           Kind{LockType::FENCED, "fenced"}),
                         [](const auto& kind) { return std::string(kind.param.java); });

TEST_F(Interop, AMixedFairQueueIsServedInOrder) {
  RedisClient client = Shared::server->client();
  const std::string queue = "redisson_lock_queue:{" + key() + "}";
  const auto await_length = [&](long long length) {
    EXPECT_TRUE(eventually([&] { return client({"LLEN", queue}).integer() == length; }));
  };
  std::optional<Hold> first = locks_.lock(key(), LockType::FAIR).acquire(0ms, 30s);
  std::mutex mutex;
  std::vector<std::string> order;
  const auto served = [&](const std::string& who) {
    const std::lock_guard guard(mutex);
    order.push_back(who);
  };
  std::vector<std::thread> waiters;
  long long length = 0;
  for (const std::string who : {"java1", "cpp1", "java2", "cpp2", "cpp3", "java3"}) {
    waiters.emplace_back([&, who] {
      if (who.starts_with("java")) {
        EXPECT_EQ(java(who, "try fair " + key() + " 30000 30000"), "true");
        served(who);
        EXPECT_EQ(java(who, "unlock fair " + key()), "true");
      } else {
        const Hold hold = locks_.lock(key(), LockType::FAIR).acquire(30s, 30s);
        served(who);
      }
    });
    await_length(++length);
  }
  first.reset();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(order, (std::vector<std::string>{"java1", "cpp1", "java2", "cpp2", "cpp3", "java3"}));
}

TEST_F(Interop, ReadersOfBothLiveSideBySide) {
  Lock reading = locks_.lock(key(), LockType::READ);
  Lock writing = locks_.with_owner(Owner::make()).lock(key(), LockType::WRITE);
  ASSERT_EQ(java("a", "try read " + key() + " 0 30000"), "true");
  std::optional<Hold> ours = reading.acquire(0ms, 30s);
  EXPECT_FALSE(writing.try_acquire());
  EXPECT_EQ(java("b", "try write " + key() + " 0 1000"), "false");

  EXPECT_EQ(java("a", "unlock read " + key()), "true");
  EXPECT_EQ(java("b", "try write " + key() + " 0 1000"), "false") << "ours is there still";
  EXPECT_FALSE(ours->lost());
  EXPECT_TRUE(ours->extend(30s)) << "Java's unlock erased nothing of ours";

  ASSERT_EQ(java("a", "try read " + key() + " 0 30000"), "true");
  ours.reset();
  EXPECT_FALSE(writing.try_acquire()) << "Java's is there still";
  EXPECT_EQ(java("a", "unlock read " + key()), "true");
  EXPECT_TRUE(writing.try_acquire());
}

TEST_F(Interop, TokensRiseAcrossBoth) {
  std::uint64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    Hold hold = locks_.lock(key(), LockType::FENCED).acquire(5s, 30s);
    ASSERT_TRUE(hold.fencing_token());
    EXPECT_GT(*hold.fencing_token(), last);
    last = *hold.fencing_token();
    EXPECT_TRUE(hold.release());
    const std::string token = java("a", "token fenced " + key() + " 30000");
    EXPECT_GT(std::stoull(token), last);
    last = std::stoull(token);
    EXPECT_EQ(java("a", "unlock fenced " + key()), "true");
  }
}

}  // namespace
}  // namespace latchkey::tests
