// Latches shared by C++ and Java: real Redisson on the other side.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/count_down_latch.hpp>

#include "interop/interop.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class InteropLatch : public Interop {
 protected:
  std::string java_latch(const std::string& verb, const std::string& key,
                         const std::string& number = "") {
    return deployment_.java().send("a", verb + " latch " + key + ' ' + number);
  }
  std::future<std::string> start_java_await(const std::string& key) {
    return deployment_.java().start("b", "await latch " + key + " 20000");
  }
  /// Waits in a thread with its own connection; the time when it was woken.
  [[nodiscard]] std::future<Time> start_cpp_wait(const std::string& key) const {
    return std::async(std::launch::async, [locks = deployment_.connect(), key] {
      EXPECT_TRUE(locks.count_down_latch(key).wait_for(20s));
      return steady_clock::now();
    });
  }
  /// Waits until `count` connections are subscribed to the latch and have asked once more.
  void await_latch_listeners(const std::string& key, std::size_t count) const {
    const std::string channel = "redisson_countdownlatch__channel__{" + key + "}";
    EXPECT_TRUE(eventually([&] {
      std::size_t all = 0;
      for (RedisClient& node : deployment_.clients()) {
        all += std::stoul(node({"PUBSUB", "NUMSUB", channel}).list().at(1));
        const Reply sharded = node({"PUBSUB", "SHARDNUMSUB", channel});
        if (sharded.is_array()) all += std::stoul(sharded.list().at(1));
      }
      return all == count;
    })) << key;
    // sleeps: the look after the subscription is answered, too
    if (count > 0) std::this_thread::sleep_for(20ms);
  }
};

TEST_P(InteropLatch, BothCountTheSameLatch) {
  for (const std::string& key : keys()) {
    const CountDownLatch latch = locks_.count_down_latch(key);
    ASSERT_EQ(java_latch("set", key, "3"), "true");
    EXPECT_FALSE(latch.try_set_count(9));
    EXPECT_EQ(latch.count_down(), 2U);
    EXPECT_EQ(java_latch("count", key), "2");
    EXPECT_EQ(java_latch("down", key), "true");
    EXPECT_EQ(latch.count_down(), 0U);
    EXPECT_EQ(java_latch("down", key), "true") << "nothing: it is at zero";
    EXPECT_EQ(latch.count(), 0U);
    ASSERT_TRUE(latch.try_set_count(2));
    EXPECT_EQ(java_latch("set", key, "7"), "false");
    EXPECT_EQ(java_latch("count", key), "2");
    EXPECT_EQ(java_latch("delete", key), "true");
    EXPECT_FALSE(latch.destroy());
  }
}

TEST_P(InteropLatch, TheLastCountDownWakesTheOtherSide) {
  std::vector<Duration> cpp, other;
  for (int round = 0; round < 5; ++round) {
    for (const std::string& key : keys()) {
      const CountDownLatch latch = locks_.count_down_latch(key);
      ASSERT_TRUE(latch.try_set_count(1));
      auto woken = start_cpp_wait(key);
      await_latch_listeners(key, 1);
      const auto by_java = steady_clock::now();
      EXPECT_EQ(java_latch("down", key), "true");
      cpp.push_back(woken.get() - by_java);
      await_latch_listeners(key, 0);

      ASSERT_EQ(java_latch("set", key, "2"), "true");
      auto answer = start_java_await(key);
      await_latch_listeners(key, 1);
      EXPECT_EQ(latch.count_down(), 1U);
      const auto by_cpp = steady_clock::now();
      EXPECT_EQ(latch.count_down(), 0U);
      EXPECT_EQ(answer.get(), "true");
      other.push_back(steady_clock::now() - by_cpp);
      await_latch_listeners(key, 0);
    }
  }
  expect_woken("C++ by Java", cpp);
  expect_woken("Java by C++", other);
}

TEST_P(InteropLatch, ADeletedLatchWakesCpp) {
  for (const std::string& key : keys()) {
    ASSERT_EQ(java_latch("set", key, "2"), "true");
    auto woken = start_cpp_wait(key);
    await_latch_listeners(key, 1);
    const auto began = steady_clock::now();
    EXPECT_EQ(java_latch("delete", key), "true");
    expect_woken("C++ by Java's delete", {woken.get() - began});
  }
}

INSTANTIATE_TEST_SUITE_P(Server, InteropLatch, ::testing::Values(DeploymentKind::server),
                         [](const auto&) { return std::string("server"); });
INSTANTIATE_TEST_SUITE_P(Cluster, InteropLatch,
                         ::testing::Values(DeploymentKind::cluster_auto, DeploymentKind::cluster_on,
                                           DeploymentKind::cluster_off),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace latchkey::tests
