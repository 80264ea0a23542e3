// Revocation on a real server: what goes over the wire, and that nobody else notices it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/leader.hpp>
#include <latchkey/locks.hpp>

#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class RedisRevocation : public ::testing::Test {
 protected:
  [[nodiscard]] Locks connect(Recorder* recorder = nullptr) const {
    return Locks::connect(server_.tcp_uri(), {.listener = recorder});
  }
  /// Asks again until a holder is told: its subscription may be under way.
  static std::size_t ask(const Locks& locks, const std::string& key) {
    std::size_t told = 0;
    EXPECT_TRUE(eventually([&] { return (told = locks.revoke(key)) > 0; }));
    return told;
  }
  std::vector<std::string> channels() { return client_({"PUBSUB", "CHANNELS", "*"}).list(); }

  RedisServer server_;
  RedisClient client_ = server_.client();
};

TEST_F(RedisRevocation, AHolderOfAnotherProcessIsAskedWithinMilliseconds) {
  Recorder recorder;
  const Locks holder = connect(&recorder), asker = connect();
  EXPECT_EQ(asker.revoke("k"), 0U);
  Hold hold = holder.lock("k").acquire(forever);
  EXPECT_EQ(asker.revoke("k"), 0U) << "it does not listen";
  const std::stop_token token = hold.revocation_token();
  EXPECT_EQ(ask(asker, "k"), 1U);
  const auto asked = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] { return hold.revoked() && token.stop_requested(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - asked, 5s) << "long before the next renewal";
  EXPECT_TRUE(recorder.await(Event::Kind::revoked));
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
}

TEST_F(RedisRevocation, AnInspectByAnybodyTellsOfItAndNotOfTheNextHolder) {
  const Locks holder = connect(), asker = connect();
  const auto asked = [&](const Locks& locks) {
    return locks.inspect("k").holders.at(0).revoked.has_value();
  };
  std::optional<Hold> hold = holder.lock("k").acquire(forever);
  EXPECT_EQ(asker.revoke("k"), 0U);
  EXPECT_FALSE(asked(asker)) << "nobody was told";
  EXPECT_FALSE(hold->revoked());
  EXPECT_EQ(ask(asker, "k"), 1U);
  EXPECT_TRUE(asked(asker) && asked(holder));
  EXPECT_TRUE(eventually([&] { return hold->revoked(); }));
  hold.reset();
  hold = holder.lock("k").acquire(forever);
  EXPECT_FALSE(asked(asker));
}

TEST_F(RedisRevocation, TheSubscriptionIsThereOnlyWhileAHolderListens) {
  const Locks locks = connect();
  {
    const Hold silent = locks.lock("k").acquire(forever);
    EXPECT_TRUE(channels().empty());
  }
  {
    const Hold hold = locks.lock("k").acquire(forever);
    EXPECT_FALSE(hold.revoked());
    EXPECT_TRUE(eventually([&] { return !channels().empty(); }));
    EXPECT_EQ(channels(), std::vector<std::string>{"latchkey_revoke:{k}"});
    EXPECT_EQ(client_({"KEYS", "*"}).list(), std::vector<std::string>{"k"}) << "it leaves no key";
  }
  EXPECT_TRUE(eventually([&] { return channels().empty(); }));
}

TEST_F(RedisRevocation, NamesWithBracesHaveChannelsOfTheirOwn) {
  const Locks locks = connect();
  const Hold plain = locks.lock("k").acquire(forever);
  EXPECT_FALSE(plain.revoked());
  EXPECT_EQ(ask(locks, "k"), 1U);
  const Hold tag = locks.lock("{k}").acquire(forever);
  EXPECT_EQ(locks.revoke("{k}"), 0U);
  EXPECT_FALSE(tag.revoked());
  EXPECT_EQ(ask(locks, "{k}"), 1U);
  EXPECT_TRUE(eventually([&] { return tag.revoked(); }));
}

TEST_F(RedisRevocation, EachReaderOfEveryProcessIsAsked) {
  const Locks one = connect(), other = connect();
  const Hold first = one.lock("k", LockType::READ).acquire(forever);
  const Hold second = other.lock("k", LockType::READ).acquire(forever);
  EXPECT_FALSE(first.revoked());
  EXPECT_FALSE(second.revoked());
  EXPECT_TRUE(eventually([&] { return one.revoke("k") == 2U; }));
  EXPECT_TRUE(eventually([&] { return first.revoked() && second.revoked(); }));
}

TEST_F(RedisRevocation, AWaiterOfAnotherProcessGetsTheLockBeforeThoseOfTheHoldersProcess) {
  Recorder local_events, foreign_events;
  const Locks holder = connect(&local_events), asker = connect(&foreign_events);
  std::optional<Hold> hold = holder.lock("k").acquire(forever);
  EXPECT_FALSE(hold->revoked());
  std::mutex mutex;
  std::string order;
  const auto take = [&](const Locks& locks, const char* name) {
    Hold got = locks.with_owner(Owner::make()).lock("k").acquire(30s);
    const std::lock_guard lock(mutex);
    order += name;
  };
  std::thread local([&] { take(holder, "local "); });
  EXPECT_TRUE(local_events.await(Event::Kind::waiting));
  std::thread foreign([&] { take(asker, "foreign "); });
  EXPECT_TRUE(foreign_events.await(Event::Kind::waiting));
  EXPECT_EQ(ask(asker, "k"), 1U);
  EXPECT_TRUE(eventually([&] { return hold->revoked(); }));
  hold.reset();
  local.join();
  foreign.join();
  EXPECT_EQ(order, "foreign local ");
}

// A connection that breaks ends the subscription at the server.
TEST_F(RedisRevocation, AHolderListensAgainAfterItsConnectionWasLost) {
  Recorder recorder;
  const Locks holder = connect(&recorder), asker = connect();
  const Hold hold = holder.lock("k").acquire(forever);
  EXPECT_FALSE(hold.revoked());
  EXPECT_TRUE(eventually([&] { return !channels().empty(); }));
  client_({"CLIENT", "KILL", "TYPE", "pubsub"});
  EXPECT_TRUE(recorder.await(Event::Kind::connection_restored));
  EXPECT_FALSE(hold.revoked()) << "to subscribe anew is no request";
  EXPECT_EQ(ask(asker, "k"), 1U);
  EXPECT_TRUE(eventually([&] { return hold.revoked(); }));
}

TEST_F(RedisRevocation, AServerThatForbidsTheChannelSaysSoToTheAskerAndNobodyIsAsked) {
  if (server_.version() < 602) GTEST_SKIP() << "this server has no permissions for channels";
  client_({"ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "resetchannels", "&redisson*"});
  const std::string uri = "redis://app:secret@" + server_.tcp_uri().substr(8);
  const Locks holder = Locks::connect(uri), asker = connect();
  Hold hold = holder.lock("k").acquire(forever);
  EXPECT_FALSE(hold.revoked());
  EXPECT_THROW(holder.revoke("k"), BackendRefused);
  EXPECT_EQ(asker.revoke("k"), 0U);
  EXPECT_FALSE(hold.revoked());
  EXPECT_TRUE(hold.release());
}

TEST_F(RedisRevocation, EndsTheTermOfALeaderPolitely) {
  Recorder recorder;
  const Locks locks = connect(&recorder);
  std::atomic<int> stopped = 0;
  const Leader leader = locks.leader("leader", [&](const std::stop_token& stop, std::uint64_t) {
    // sleeps: a body that asks, as those of users do
    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
    ++stopped;
  });
  ASSERT_TRUE(eventually([&] { return leader.is_leader(); }));
  EXPECT_EQ(ask(locks, "leader"), 1U);
  EXPECT_TRUE(recorder.await(Event::Kind::term_ended));
  EXPECT_EQ(stopped.load(), 1);
  EXPECT_EQ(recorder.count(Event::Kind::deposed), 0U);
  EXPECT_EQ(recorder.count(Event::Kind::lost), 0U);
}

}  // namespace
}  // namespace latchkey::tests
