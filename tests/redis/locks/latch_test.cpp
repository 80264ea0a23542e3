// CountDownLatch on Redis: Redisson's keys and messages, outages, clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Direction = FaultProxy::Direction;

class RedisLatch : public ::testing::Test {
 protected:
  std::string ask(std::initializer_list<std::string_view> words) {
    return server.client()(words).text();
  }
  [[nodiscard]] std::string subscribers(const std::string& channel) {
    return server.client()({"PUBSUB", "NUMSUB", channel}).list().at(1);
  }

  RedisServer server;
  const Locks locks = Locks::connect(server.tcp_uri());
  const CountDownLatch latch = locks.count_down_latch("jobs");
};

TEST_F(RedisLatch, IsAnIntegerThatIsGoneAtZero) {
  ASSERT_TRUE(latch.try_set_count(2));
  EXPECT_EQ(ask({"GET", "jobs"}), "2");
  EXPECT_EQ(latch.count_down(), 1U);
  EXPECT_EQ(ask({"GET", "jobs"}), "1");
  EXPECT_EQ(latch.count_down(), 0U);
  EXPECT_EQ(latch.count_down(), 0U);
  EXPECT_TRUE(server.client()({"KEYS", "*"}).list().empty()) << "nothing stays behind";
}

TEST_F(RedisLatch, AWaitIsWokenByAMessageOnRedissonsChannel) {
  ASSERT_TRUE(latch.try_set_count(1));
  std::thread waiter([&] { latch.wait(); });
  ASSERT_TRUE(
      eventually([&] { return subscribers("redisson_countdownlatch__channel__{jobs}") == "1"; }));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(latch.count_down(), 0U);
  waiter.join();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s) << "it did not poll";
  EXPECT_TRUE(
      eventually([&] { return subscribers("redisson_countdownlatch__channel__{jobs}") == "0"; }));
}

// Redisson's await sleeps until a message comes.
TEST_F(RedisLatch, ALostMessageIsMadeUpForByAPoll) {
  ASSERT_TRUE(latch.try_set_count(1));
  std::thread waiter([&] { latch.wait(); });
  ASSERT_TRUE(
      eventually([&] { return subscribers("redisson_countdownlatch__channel__{jobs}") == "1"; }));
  ask({"DEL", "jobs"});  // publishes nothing
  waiter.join();
}

TEST_F(RedisLatch, TheChannelHasBracesAroundAnyName) {
  const CountDownLatch tagged = locks.count_down_latch("{a}b");
  ASSERT_TRUE(tagged.try_set_count(1));
  std::thread waiter([&] { tagged.wait(); });
  EXPECT_TRUE(
      eventually([&] { return subscribers("redisson_countdownlatch__channel__{{a}b}") == "1"; }));
  EXPECT_EQ(tagged.count_down(), 0U);
  waiter.join();
}

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// They said "the REENTRANT lock 'jobs'".
TEST_F(RedisLatch, ErrorsNameALatchAndNotALock) {
  ask({"HSET", "jobs", "a", "b"});
  EXPECT_THAT(error_of([&] { latch.count_down(); }), HasSubstr("refused the latch 'jobs' on "));
  const auto wait = [&] { static_cast<void>(latch.wait_for(200ms)); };
  EXPECT_THAT(error_of(wait), HasSubstr("refused the latch 'jobs' on "));
  ask({"DEL", "jobs"});
  ASSERT_TRUE(latch.try_set_count(1));
  FaultProxy proxy(server.port());
  const Locks far = Locks::connect(proxy.uri(), {.command_timeout = 300ms});
  const CountDownLatch same = far.count_down_latch("jobs");
  proxy.drop(Direction::to_client);
  EXPECT_THAT(error_of([&] { static_cast<void>(same.wait_for(200ms)); }),
              HasSubstr("the state of the latch 'jobs' on "));
  EXPECT_THAT(error_of([&] { static_cast<void>(same.count()); }),
              HasSubstr("the state of the latch 'jobs' on "));
}

// Both said "the REENTRANT lock 'jobs'".
TEST_F(RedisLatch, InspectAndForceReleaseOfALatchNameAKeyAndNoLock) {
  ASSERT_TRUE(latch.try_set_count(1));
  const auto inspect = [&] { static_cast<void>(locks.inspect("jobs")); };
  EXPECT_THAT(error_of(inspect), HasSubstr("refused the key 'jobs' on "));
  const auto release = [&] { static_cast<void>(locks.force_release("jobs")); };
  EXPECT_THAT(error_of(release), HasSubstr("refused the key 'jobs' on "));
}

TEST_F(RedisLatch, AnotherValueIsRefused) {
  ask({"HSET", "jobs", "a", "b"});
  EXPECT_THROW(latch.count_down(), BackendRefused);
  EXPECT_THROW(latch.try_set_count(1), BackendRefused);
  EXPECT_THROW(static_cast<void>(latch.count()), BackendRefused);
  EXPECT_THROW(static_cast<void>(latch.wait_for(1s)), BackendRefused);
  EXPECT_THROW(latch.destroy(), BackendRefused);
  ask({"DEL", "jobs"});
  ask({"SET", "jobs", "many"});
  EXPECT_THROW(latch.count_down(), BackendRefused);
  EXPECT_THROW(static_cast<void>(latch.count()), BackendRefused);
}

TEST_F(RedisLatch, DestroyDeletesNoValueThatIsNoCount) {
  ask({"SET", "jobs", "many"});
  EXPECT_THROW(latch.destroy(), BackendRefused);
  EXPECT_EQ(ask({"GET", "jobs"}), "many");
}

TEST_F(RedisLatch, ALostReplySaysThatItMayHaveCounted) {
  ASSERT_TRUE(latch.try_set_count(3));
  FaultProxy proxy(server.port());
  const Locks far = Locks::connect(proxy.uri(), {.command_timeout = 1s});
  const CountDownLatch same = far.count_down_latch("jobs");
  EXPECT_EQ(same.count_down(), 2U);  // the server knows the script from now on
  proxy.drop(Direction::to_client);
  try {
    same.count_down();
    FAIL() << "no reply came";
  } catch (const BackendUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("it may have counted down"));
  }
  EXPECT_EQ(latch.count(), 1U) << "and it has";
}

TEST_F(RedisLatch, AWaitIsABoundWhateverTheServerDoes) {
  ASSERT_TRUE(latch.try_set_count(1));
  FaultProxy proxy(server.port());
  const Locks far = Locks::connect(proxy.uri(), {.command_timeout = 300ms});
  const CountDownLatch same = far.count_down_latch("jobs");
  proxy.drop(Direction::to_client);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THROW(static_cast<void>(same.wait_for(700ms)), BackendUnavailable);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(took, 700ms);
  EXPECT_LT(took, 3s);
}

TEST_F(RedisLatch, AWaitSurvivesALostConnection) {
  ASSERT_TRUE(latch.try_set_count(1));
  FaultProxy proxy(server.port());
  const Locks far = Locks::connect(proxy.uri());
  const CountDownLatch same = far.count_down_latch("jobs");
  std::thread waiter([&] { same.wait(); });
  ASSERT_TRUE(
      eventually([&] { return subscribers("redisson_countdownlatch__channel__{jobs}") == "1"; }));
  proxy.cut();
  EXPECT_EQ(latch.count_down(), 0U) << "while it is not subscribed";
  waiter.join();
}

}  // namespace
}  // namespace latchkey::tests
