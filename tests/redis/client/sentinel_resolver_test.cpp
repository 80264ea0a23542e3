// Sentinels that reply one after the other, or no more.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include <latchkey/clock.hpp>

#include "redis/connect/poll_set.hpp"
#include "redis/connect/sentinel_resolver.hpp"
#include "redis/connect/sentinel_session.hpp"
#include "scripted_peer.hpp"
#include "support/polling.hpp"
#include "support/recorder.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;
using testing::bulk;
using testing::Command;
using testing::ScriptedPeer;
using tests::eventually;

std::string master_at_port_one(const Command& command) {
  if (command[0] != "SENTINEL") return ScriptedPeer::proper(command);
  if (command[1] == "MASTER") return "*2\r\n" + bulk("config-epoch") + bulk("1");
  return "*2\r\n" + bulk("127.0.0.1") + bulk("1");
}

// The time in which the resolver waits for further answers after the first one is passed by hand,
// so the answer is withdrawn within it on any machine.
TEST(RedisSentinels, NoMasterIsKnownAfterTheOnlyAnswerIsWithdrawn) {
  std::atomic<bool> knows_master = true;
  ScriptedPeer forgetful(ScriptedPeer::OnPort{}, [&](const Command& command) {
    if (command[0] == "SENTINEL" && !knows_master) {
      return std::string("-ERR No such master with that name\r\n");
    }
    return master_at_port_one(command);
  });
  const auto silent = [](const Command&) { return std::string(); };
  ScriptedPeer second(ScriptedPeer::OnPort{}, silent), third(ScriptedPeer::OnPort{}, silent);
  const auto at = [](const ScriptedPeer& peer) {
    return "127.0.0.1:" + std::to_string(peer.port());
  };
  const RedisUri uri = RedisUri::parse("redis+sentinel://" + at(forgetful) + "," + at(second) +
                                       "," + at(third) + "/orders");
  constexpr auto timeout = 20s;
  Transport transport(nullptr, timeout);
  SentinelResolver resolver(uri, transport, nullptr, timeout);
  const Clock::time_point now = Clock::system().now();
  const auto connections = [&] {
    const PollSet::Borrowed borrowed;
    resolver.wait_for(borrowed.set(), {});
    return borrowed.set().size();
  };

  ASSERT_EQ(resolver.start(now).kind, Io::Kind::blocked);
  ASSERT_TRUE(eventually([&] {
    EXPECT_EQ(resolver.resume(now).kind, Io::Kind::blocked);
    return resolver.due() < later(now, 1s);
  })) << "one answer has arrived, and the time for further ones is running";
  const Clock::time_point decides_at = resolver.due();
  ASSERT_EQ(connections(), 3U);

  knows_master = false;
  forgetful.say(testing::message("+switch-master", "x"));
  ASSERT_TRUE(eventually([&] {
    EXPECT_EQ(resolver.resume(now).kind, Io::Kind::blocked);
    return connections() == 2;
  })) << "the sentinel was asked again and does not know the master any more";

  EXPECT_EQ(resolver.resume(decides_at).kind, Io::Kind::blocked) << "nobody names a master";
  EXPECT_GT(resolver.due(), decides_at);
}

TEST(RedisSentinels, AnOldAnswerDoesNotCountAgainWhileItsLostSentinelIsQueried) {
  std::atomic<bool> lost = false;
  const ScriptedPeer peer(ScriptedPeer::OnPort{}, [&](const Command& command) {
    return lost ? std::string() : master_at_port_one(command);
  });
  const RedisUri uri =
      RedisUri::parse("redis+sentinel://127.0.0.1:" + std::to_string(peer.port()) + "/orders");
  constexpr auto patience = 20s;
  SentinelSession sentinel(uri.sentinel_at(uri.endpoints.front()), nullptr, uri.master, patience);
  const Clock::time_point now = Clock::system().now();
  sentinel.query(now);
  ASSERT_TRUE(eventually([&] {
    sentinel.resume(now);
    return sentinel.state() == SentinelSession::State::answered;
  }));

  lost = true;
  sentinel.query(now);
  sentinel.resume(later(now, patience));
  ASSERT_EQ(sentinel.state(), SentinelSession::State::failed);
  ASSERT_TRUE(sentinel.answer().has_value());
  const Clock::time_point much_later = later(now, 2min);
  EXPECT_TRUE(sentinel.is_out_of_date(much_later));
  sentinel.query(much_later);
  EXPECT_EQ(sentinel.state(), SentinelSession::State::querying);
  EXPECT_TRUE(sentinel.is_out_of_date(much_later)) << "nothing has been heard from it since";
}

}  // namespace
}  // namespace latchkey::detail::redis
