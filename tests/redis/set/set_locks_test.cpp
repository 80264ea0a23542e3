// redis+set:// through Locks: URIs, types, notifications, holders of other libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using SteadyClock = std::chrono::steady_clock;

class RedisSet : public ::testing::Test {
 protected:
  [[nodiscard]] std::string uri(const std::string& login = {},
                                const std::string& query = {}) const {
    return "redis+set://" + login + "127.0.0.1:" + std::to_string(server_.port()) + query;
  }
  [[nodiscard]] Locks connect(const std::string& query = {}) const {
    return Locks::connect(uri("", query));
  }
  template <class Error>
  static std::string message_of(const std::string& uri) {
    try {
      const Locks locks = Locks::connect(uri);
      return "connected";
    } catch (const Error& error) {
      return error.what();
    }
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

TEST_F(RedisSet, OnlyReentrantAndFencedAreOffered) {
  const Locks locks = connect();
  EXPECT_TRUE(locks.lock("k").try_acquire(0ms, 30s));
  EXPECT_TRUE(locks.lock("f", LockType::FENCED).try_acquire(0ms, 30s));
  for (const LockType type : {LockType::FAIR, LockType::READ, LockType::WRITE}) {
    EXPECT_ANY_THROW(static_cast<void>(locks.lock("k", type).try_acquire(0ms, 30s)))
        << to_string(type);
  }
}

TEST_F(RedisSet, SemaphoresAreRefusedWithASentenceThatNamesWhoHasThem) {
  const Locks locks = connect();
  try {
    static_cast<void>(locks.semaphore("exports", 3));
    FAIL() << "it has none";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(),
              locks.describe() +
                  " offers no semaphores; memory:, host:, redis:, postgresql: and mysql: do");
  }
}

TEST_F(RedisSet, WrongCredentialsAreRefusedWithoutBeingShown) {
  ASSERT_FALSE(client_({"CONFIG", "SET", "requirepass", "right"}).is_error());
  EXPECT_NO_THROW(static_cast<void>(Locks::connect(uri(":right@"))));
  EXPECT_THAT(message_of<BackendRefused>(uri("somebody:wrong@")),
              AllOf(HasSubstr("user or password is wrong"), HasSubstr("redis+set://127.0.0.1"),
                    Not(HasSubstr("somebody")), Not(HasSubstr(":wrong"))));
  EXPECT_THAT(message_of<BackendRefused>(uri()), HasSubstr("asks for a password"));
}

TEST_F(RedisSet, AUserThatCannotDeleteIsRefusedAtTheStart) {
  client_({"ACL", "SETUSER", "app", "reset", "on", ">secret", "~*", "+@all", "-del"});
  EXPECT_THAT(message_of<BackendRefused>(uri("app:secret@")),
              HasSubstr("lacks a permission, +del, without which no lock can be given back"));
}

TEST_F(RedisSet, ANodeOfAClusterIsRefused) {
  const RedisServer node({.cluster = true});
  EXPECT_THAT(message_of<BackendRefused>("redis+set://127.0.0.1:" + std::to_string(node.port())),
              HasSubstr("a node of a cluster, and redis+set:// is for one server only"));
}

TEST_F(RedisSet, AWrongFormatIsAnErrorThatNamesTheRightOnes) {
  EXPECT_THAT(message_of<std::invalid_argument>(uri("", "?format=redlok")),
              AllOf(HasSubstr("hold_id, redlock or redsync"), HasSubstr("'redlok'")));
  const std::string plain = "redis://127.0.0.1:" + std::to_string(server_.port());
  EXPECT_THAT(message_of<std::invalid_argument>(plain + "?format=redlock"),
              HasSubstr("the option 'format' of the redis:// URI needs redis+set://"));
}

TEST_F(RedisSet, AReleaseWakesAWaiterOfAnotherProcessAtOnce) {
  const Locks here = connect(), there = connect();
  Hold hold = here.lock("k").acquire(0ms, 30s);
  SteadyClock::time_point granted;
  std::thread waiter([&] {
    const Hold taken = there.lock("k").acquire(20s, 30s);
    granted = SteadyClock::now();
  });
  ASSERT_TRUE(eventually(
      [&] { return !client_({"PUBSUB", "CHANNELS", "latchkey_set_channel:{k}"}).list().empty(); }));
  std::this_thread::sleep_for(50ms);  // sleeps: the attempt after the subscription is answered, too
  const Stalls stalls;
  const auto released = SteadyClock::now();
  EXPECT_TRUE(hold.release());
  waiter.join();
  EXPECT_LT(granted - released, 150ms + stalls.total());
  EXPECT_TRUE(eventually([&] { return client_({"DBSIZE"}).integer() == 0; }));
}

TEST_F(RedisSet, TheSilentReleaseOfAnotherLibraryIsSeen) {
  const Locks locks = connect();
  client_({"SET", "k", "0123456789abcdef0123456789abcdef", "NX", "PX", "60000"});
  std::thread other([&] {
    // sleeps: the call waits meanwhile, for a release of which nobody tells it
    std::this_thread::sleep_for(300ms);
    server_.client()({"DEL", "k"});
  });
  const Stalls stalls;
  const auto start = SteadyClock::now();
  EXPECT_TRUE(locks.lock("k").try_acquire(20s, 30s));
  EXPECT_LT(SteadyClock::now() - start, 1s + stalls.total());
  other.join();
}

TEST_F(RedisSet, TheErrorNamesAHashOfRedisson) {
  client_({"HSET", "k", "0d7d1a6e-5b0c-4d3c-9a55-2f0e6f1c9b7a:1", "1"});
  const Locks locks = connect();
  try {
    static_cast<void>(locks.lock("k").try_acquire(0ms, 30s));
    ADD_FAILURE() << "granted";
  } catch (const BackendRefused& error) {
    EXPECT_THAT(error.what(), HasSubstr("the key holds something that is not a lock"));
  }
  EXPECT_EQ(client_({"TYPE", "k"}).text(), "hash");
}

TEST_F(RedisSet, AQuorumOfThreeWorksWithOneServerKilled) {
  RedisServer second, third;
  const auto at = [](const RedisServer& server) {
    return " redis+set://127.0.0.1:" + std::to_string(server.port()) + "?format=redsync";
  };
  const Locks locks = Locks::connect("quorum:" + at(server_) + at(second) + at(third));
  Hold hold = locks.lock("k").acquire(1s, 30s);
  const std::string value = client_({"GET", "k"}).text();
  EXPECT_EQ(value.size(), 24U);
  // Two of the three have granted it; the other one may be slower.
  RedisClient other = second.client();
  EXPECT_TRUE(eventually([&] { return other({"GET", "k"}).text() == value; }));
  third.kill();
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(locks.lock("k").try_acquire(2s, 30s));
}

}  // namespace
}  // namespace latchkey::tests
