// Locks::connect: an unusable server is refused with one clear sentence and leaves nothing open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "scripted_peer.hpp"
#include "support/recorder.hpp"
#include "support/servers/redis_server.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using testing::Command;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScriptedPeer;

enum class Result : std::uint8_t { connected, refused, unavailable, invalid };

struct Start {
  Result result = Result::connected;
  std::string text;
};

Start start(const std::string& uri, std::chrono::milliseconds timeout = 2s) {
  try {
    const Locks locks = Locks::connect(uri, {.command_timeout = timeout});
    return {};
  } catch (const BackendRefused& error) {
    return {Result::refused, error.what()};
  } catch (const BackendUnavailable& error) {
    return {Result::unavailable, error.what()};
  } catch (const std::invalid_argument& error) {
    return {Result::invalid, error.what()};
  }
}

class RedisStart : public ::testing::Test {
 protected:
  RedisServer server_;
  RedisClient client_ = server_.client();
};

TEST_F(RedisStart, APasswordWithoutAUserLogsInAndAWrongOneIsRefused) {
  ASSERT_FALSE(client_({"CONFIG", "SET", "requirepass", "right%"}).is_error());
  const std::string at = "@127.0.0.1:" + std::to_string(server_.port());
  EXPECT_EQ(start("redis://:right%25" + at).text, "");
  const Start wrong = start("redis://:wrong%25" + at);
  EXPECT_EQ(wrong.result, Result::refused);
  EXPECT_THAT(wrong.text, AllOf(HasSubstr("user or password is wrong"),
                                HasSubstr("redis://127.0.0.1:"), Not(HasSubstr("wrong%"))));
  const Start none = start(server_.tcp_uri());
  EXPECT_EQ(none.result, Result::refused);
  EXPECT_THAT(none.text, HasSubstr("asks for a password, and the URI has none"));
}

TEST_F(RedisStart, AUserWithItsPasswordLogsInAndAWrongOneIsRefused) {
  ASSERT_FALSE(
      client_({"ACL", "SETUSER", "alice", "on", ">secret", "~*", server_.all_channels(), "+@all"})
          .is_error());
  const std::string at = "@127.0.0.1:" + std::to_string(server_.port());
  EXPECT_EQ(start("redis://alice:secret" + at).text, "");
  const Start wrong = start("redis://alice:other" + at);
  EXPECT_EQ(wrong.result, Result::refused);
  EXPECT_THAT(wrong.text, AllOf(Not(HasSubstr("alice")), Not(HasSubstr("other"))));
}

TEST_F(RedisStart, AMissingPermissionIsNamedAndThePasswordIsNot) {
  ASSERT_FALSE(client_({"ACL", "SETUSER", "alice", "on", ">secret", "~*", server_.all_channels(),
                        "+@all", "-evalsha", "-eval"})
                   .is_error());
  const std::string uri = "redis://alice:secret@127.0.0.1:" + std::to_string(server_.port()) + "/0";
  const Locks locks = Locks::connect(uri);
  try {
    static_cast<void>(locks.lock("k").try_acquire());
    FAIL() << "granted";
  } catch (const BackendRefused& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("evalsha"), Not(HasSubstr("secret"))));
  }
  EXPECT_EQ(client_({"DBSIZE"}).integer(), 0);
}

// Without HDEL a granted lock could never be released.
TEST_F(RedisStart, AUserWithoutHdelIsRefusedAndTheErrorNamesIt) {
  ASSERT_FALSE(client_({"ACL", "SETUSER", "alice", "on", ">secret", "~*", server_.all_channels(),
                        "+@all", "-hdel"})
                   .is_error());
  const Start refused =
      start("redis://alice:secret@127.0.0.1:" + std::to_string(server_.port()) + "/0");
  EXPECT_EQ(refused.result, Result::refused);
  EXPECT_THAT(refused.text, AllOf(HasSubstr("+hdel"), Not(HasSubstr("secret"))));
}

TEST_F(RedisStart, AUserRestrictedToItsOwnKeysIsAccepted) {
  ASSERT_FALSE(client_({"ACL", "SETUSER", "alice", "on", ">secret", "~order:*",
                        server_.all_channels(), "+@all"})
                   .is_error());
  const Locks locks =
      Locks::connect("redis://alice:secret@127.0.0.1:" + std::to_string(server_.port()) + "/0");
  EXPECT_TRUE(locks.lock("order:1").try_acquire());
}

TEST_F(RedisStart, AnExistingDatabaseIsUsedAndAMissingOneIsRefused) {
  const Locks locks = Locks::connect(server_.tcp_uri() + "/3");
  const auto hold = locks.lock("k").try_acquire(0ms);
  EXPECT_EQ(client_({"DBSIZE"}).integer(), 0);
  ASSERT_FALSE(client_({"SELECT", "3"}).is_error());
  EXPECT_EQ(client_({"DBSIZE"}).integer(), 1);
  const Start none = start(server_.tcp_uri() + "/99");
  EXPECT_EQ(none.result, Result::refused);
  EXPECT_THAT(none.text, HasSubstr("database 99"));
}

TEST_F(RedisStart, TheConnectionHasAClientName) {
  const Locks locks = Locks::connect(server_.unix_uri() + "?client_name=the-test");
  EXPECT_THAT(client_({"CLIENT", "LIST"}).text(), HasSubstr("name=the-test"));
}

TEST_F(RedisStart, AServerWithTooManyClientsIsUnavailable) {
  ASSERT_FALSE(client_({"CONFIG", "SET", "maxclients", "1"}).is_error());
  const Start refused = start(server_.tcp_uri());
  EXPECT_EQ(refused.result, Result::unavailable);
  EXPECT_THAT(refused.text, HasSubstr("takes no more clients"));
}

TEST_F(RedisStart, AReplicaGrantsNoLocks) {
  ASSERT_FALSE(client_({"REPLICAOF", "127.0.0.1", "1"}).is_error());
  const Start refused = start(server_.tcp_uri());
  EXPECT_EQ(refused.result, Result::unavailable);
  EXPECT_THAT(refused.text, HasSubstr("is a replica"));
}

TEST_F(RedisStart, AnAddressWithoutAServerIsUnavailable) {
  server_.kill();
  const Start tcp = start(server_.tcp_uri());
  EXPECT_EQ(tcp.result, Result::unavailable);
  EXPECT_THAT(tcp.text, HasSubstr("cannot be used now: connect: Connection refused"));
  const Start unix_socket = start(server_.unix_uri());
  EXPECT_EQ(unix_socket.result, Result::unavailable);
  EXPECT_THAT(start("redis+unix:///nowhere/socket").text, HasSubstr("No such file"));
}

TEST_F(RedisStart, ConnectingToAFrozenServerEndsInTime) {
  server_.stop();
  const Stalls stalls;
  const auto began = std::chrono::steady_clock::now();
  const Start none = start(server_.tcp_uri(), 200ms);
  EXPECT_EQ(none.result, Result::unavailable);
  EXPECT_THAT(none.text, HasSubstr("no answer within 200 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 2s + stalls.total());
  server_.resume();
}

TEST_F(RedisStart, AUriWithoutCredentialsConnects) {
  const Locks locks = Locks::connect("redis://127.0.0.1:" + std::to_string(server_.port()));
  EXPECT_EQ(locks.lock("k").try_acquire().has_value(), true);
}

// localhost is in the hosts file. A name that ends in .invalid never exists.
TEST_F(RedisStart, HostNamesAreResolved) {
  EXPECT_EQ(start("redis://localhost:" + std::to_string(server_.port())).text, "");
  const Start none = start("redis://no-such-host.invalid:6379", 10s);
  EXPECT_EQ(none.result, Result::unavailable);
  EXPECT_THAT(none.text, HasSubstr("the host 'no-such-host.invalid' has no address"));
}

TEST_F(RedisStart, AServerThatMayEvictHeldLocksIsReportedByAWarning) {
  ASSERT_FALSE(client_({"CONFIG", "SET", "maxmemory", "100mb"}).is_error());
  ASSERT_FALSE(client_({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"}).is_error());
  Recorder recorder;
  {
    const Locks locks = Locks::connect(server_.tcp_uri(), {.listener = &recorder});
    locks.close(1s);
  }
  const std::vector<Event> warnings = recorder.of(Event::Kind::warning);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings.front().text,
              AllOf(HasSubstr("redis://127.0.0.1:"), HasSubstr("may evict held locks"),
                    HasSubstr("volatile-lru")));
}

struct OtherServer {
  const char* name;
  const char* reply;
  Result result;
  const char* sentence;
};

class RedisStartAtOtherServers : public ::testing::TestWithParam<OtherServer> {};

TEST_P(RedisStartAtOtherServers, OtherProtocolsAreRefusedWithASentence) {
  const ScriptedPeer peer(
      [&](const Command&) -> std::optional<std::string> { return GetParam().reply; });
  const Start refused = start(peer.uri());
  EXPECT_EQ(refused.result, GetParam().result);
  EXPECT_THAT(refused.text, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Start, RedisStartAtOtherServers,
    ::testing::Values(OtherServer{"Http", "HTTP/1.1 400 Bad Request\r\n\r\n", Result::refused,
                                  "the server at this address does not speak the Redis protocol"},
                      OtherServer{"Resp2Only", "-ERR unknown command `HELLO`\r\n", Result::refused,
                                  "does not support RESP3; expected Redis >= 6 or Valkey"},
                      OtherServer{"Memcached", "ERROR\r\n", Result::refused,
                                  "does not speak the Redis protocol"}),
    [](const auto& tested) { return tested.param.name; });

TEST(RedisStartAtAnotherServer, PeersThatCloseTheConnectionAreRefusedWithASentence) {
  const ScriptedPeer peer([](const Command&) { return std::optional<std::string>(); });
  const Start refused = start(peer.uri());
  EXPECT_EQ(refused.result, Result::unavailable);
  EXPECT_THAT(refused.text, HasSubstr("closed the connection before it had said anything"));
}

}  // namespace
}  // namespace latchkey::tests
