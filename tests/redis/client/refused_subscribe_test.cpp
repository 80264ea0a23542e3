// A server that refuses a SUBSCRIBE: no listener is left, and the next SUBSCRIBE works.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <latchkey/locks.hpp>
#include <latchkey/parker.hpp>

#include "redis/redis_backend.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisRefusedSubscribe : public ::testing::Test {
 protected:
  void give(std::initializer_list<std::string_view> rights) {
    for (const std::string_view right : rights) {
      ASSERT_FALSE(client_({"ACL", "SETUSER", "app", right}).is_error()) << right;
    }
  }
  [[nodiscard]] std::string uri_of_app() const {
    return "redis://app:secret@127.0.0.1:" + std::to_string(server_.port());
  }
  /// Waits until one client subscribes to a channel of the key.
  bool awaits_a_subscriber(const std::string& key) {
    return eventually([&] {
      return !client_({"PUBSUB", "CHANNELS", "redisson_lock__channel:{" + key + "}*"})
                  .list()
                  .empty();
    });
  }
  bool no_channel_is_left() {
    return eventually([&] { return client_({"PUBSUB", "CHANNELS"}).list().empty(); });
  }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

TEST_F(RedisRefusedSubscribe, AForbiddenChannelLeavesNoListener) {
  if (server_.version() < 602) GTEST_SKIP() << "this server has no permissions for channels";
  give({"reset", "on", ">secret", "~*", "+@all", "&redisson_lock__channel:{k}",
        "&redisson_rwlock:{k}"});
  const Locks theirs = Locks::connect(server_.tcp_uri());
  const Locks ours = Locks::connect(uri_of_app());
  const Hold forbidden = theirs.lock("forbidden").acquire(forever);
  EXPECT_EQ(ours.lock("forbidden").try_acquire(50ms), std::nullopt);

  Hold hold = theirs.lock("k").acquire(forever);
  std::atomic<bool> entered = false;
  std::thread waiter([&] {
    const auto mine = ours.lock("k").try_acquire(patience);
    entered = mine.has_value();
  });
  ASSERT_TRUE(awaits_a_subscriber("k"));
  // A leftover of the refused channel would take the others along, in one command for all of them.
  client_({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(awaits_a_subscriber("k")) << "on the next connection";
  EXPECT_TRUE(hold.release());
  waiter.join();
  EXPECT_TRUE(entered);
  EXPECT_TRUE(no_channel_is_left());
}

TEST_F(RedisRefusedSubscribe, TheNextWaiterIsWokenOnceTheChannelIsPermitted) {
  if (server_.version() < 602) GTEST_SKIP() << "this server has no permissions for channels";
  give({"reset", "on", ">secret", "~*", "+@all", "resetchannels"});
  const Locks theirs = Locks::connect(server_.tcp_uri());
  const Locks ours = Locks::connect(uri_of_app());
  Hold hold = theirs.lock("k").acquire(forever);
  EXPECT_EQ(ours.lock("k").try_acquire(50ms), std::nullopt);
  EXPECT_TRUE(no_channel_is_left());
  give({"allchannels"});
  std::chrono::steady_clock::time_point entered{};
  std::thread waiter([&] {
    const auto mine = ours.lock("k").try_acquire(patience);
    if (mine) entered = std::chrono::steady_clock::now();
  });
  ASSERT_TRUE(awaits_a_subscriber("k"));
  EXPECT_TRUE(hold.release());
  waiter.join();
  EXPECT_NE(entered, std::chrono::steady_clock::time_point{});
  EXPECT_TRUE(no_channel_is_left());
}

/// Counts outcomes and keeps the last one.
struct Listening final : Sink {
  void completed(Request& /*request*/, Outcome&& outcome) noexcept override {
    last = outcome.kind;
    ++answers;
  }
  void notified(const Notification& notification) noexcept override {
    if (notification.kind == Notification::Kind::released) ++wakes;
  }
  Outcome::Kind last{};
  int answers = 0, wakes = 0;
};

TEST_F(RedisRefusedSubscribe, ABusyServerRefusesOnlyUntilItsScriptEnds) {
  client_({"CONFIG", "SET", "lua-time-limit", "1"});
  Listening sink;
  const auto backend = detail::redis::make_redis_backend(server_.tcp_uri(), {});
  Request request;
  request.key = "k";
  const auto answer_to = [&](Verb verb) {
    request.verb = verb;
    request.sent = Clock::system().now();
    const int before = sink.answers;
    Request* const one[] = {&request};
    backend->submit(one, sink);
    while (sink.answers == before) backend->drive(Parker::mine(), Clock::never());
    return sink.last;
  };
  // A channel that is unsubscribed while the server is busy is unsubscribed in the end, too.
  ASSERT_EQ(answer_to(Verb::subscribe), Outcome::Kind::granted);
  RedisClient script = server_.client();
  std::thread busy([&] { script({"EVAL", "while true do end", "0"}); });
  ASSERT_TRUE(eventually([&] { return client_({"PING"}).text().starts_with("BUSY"); }));
  EXPECT_EQ(answer_to(Verb::unsubscribe), Outcome::Kind::granted);
  EXPECT_EQ(answer_to(Verb::subscribe), Outcome::Kind::refused);
  client_({"SCRIPT", "KILL"});
  busy.join();
  EXPECT_TRUE(eventually([&] {
    backend->drive(Parker::mine(), later(Clock::system().now(), 50ms));
    return client_({"PUBSUB", "CHANNELS"}).list().empty();
  }));
  ASSERT_EQ(answer_to(Verb::subscribe), Outcome::Kind::granted);
  client_({"PUBLISH", "redisson_lock__channel:{k}", "0"});
  EXPECT_TRUE(eventually([&] {
    backend->drive(Parker::mine(), later(Clock::system().now(), 50ms));
    return sink.wakes == 1;
  }));
  EXPECT_EQ(answer_to(Verb::unsubscribe), Outcome::Kind::granted);
  EXPECT_TRUE(no_channel_is_left());
}

}  // namespace
}  // namespace latchkey::tests
