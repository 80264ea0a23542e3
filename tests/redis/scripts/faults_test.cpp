// Servers that refuse scripts: out of memory, without permission, without the script, not a master.
#include "redis/scripts/script_fixture.hpp"
#include "support/lock_types.hpp"

namespace latchkey::tests {
namespace {

class ScriptsOutOfMemory : public ScriptTest {
 protected:
  /// Every command that could need memory is refused from here on.
  void fill_memory() { redis({"CONFIG", "SET", "maxmemory", "1"}); }
};

TEST_F(ScriptsOutOfMemory, AcquireIsRefusedWithASentenceAndLeavesNothing) {
  fill_memory();
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    const Outcome outcome = client.acquire("k", type, id(1), lease, queue_wait);
    EXPECT_EQ(outcome.kind, Kind::refused);
    EXPECT_EQ(outcome.reason,
              "the server is out of memory (OOM command not allowed when used memory > "
              "'maxmemory')");
  }
  EXPECT_EQ(keys(), Names{});
}

TEST_F(ScriptsOutOfMemory, HoldsAreRenewedVerifiedAndReleased) {
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    redis({"CONFIG", "SET", "maxmemory", "0"});
    redis({"FLUSHALL"});
    ASSERT_EQ(client.acquire("k", type, id(1), lease).kind, Kind::granted);
    fill_memory();
    EXPECT_EQ(client.renew("k", type, id(1), 2 * lease).kind, Kind::granted);
    expect_ttl("k", 2 * lease);
    EXPECT_EQ(client.send(Verb::verify, "k", type, id(1)).kind, Kind::granted);
    EXPECT_EQ(client.acquire("k", type, id(1), lease).kind, Kind::granted);  // repeated acquire
    EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
    EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
  }
}

TEST_F(ScriptsOutOfMemory, DowngradeSucceeds) {
  Subscriber listener = subscribe({"redisson_rwlock:{k}"});
  client.acquire("k", LockType::WRITE, id(1), lease);
  fill_memory();
  EXPECT_EQ(client.downgrade("k", id(1), lease).kind, Kind::granted);
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 1");
  EXPECT_EQ(client.send(Verb::verify, "k", LockType::READ, id(1)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::release, "k", LockType::READ, id(1)).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(ScriptsOutOfMemory, FairReleaseAndLeaveSucceed) {
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    client.acquire("k", LockType::FAIR, id(number), lease, queue_wait);
  }
  const std::string channel = "redisson_lock__channel:{k}:" + owner(2);
  Subscriber next = subscribe({channel});
  fill_memory();
  EXPECT_EQ(client.send(Verb::release, "k", LockType::FAIR, id(1)).kind, Kind::granted);
  EXPECT_TRUE(next.next().starts_with(channel + " 2 "));
  EXPECT_EQ(client.send(Verb::leave, "k", LockType::FAIR, id(2)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::leave, "k", LockType::FAIR, id(3)).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

using ScriptsWithoutPermission = ScriptTest;

TEST_F(ScriptsWithoutPermission, ReleaseSucceedsIfPublishIsForbidden) {
  for (const bool by_command : {false, true}) {
    ScriptClient user = by_command ? as_user({"~*", server.all_channels(), "+@all", "-publish"})
                                   : as_user({"~*", "resetchannels", "+@all"});
    for (const LockType type : all_types) {
      SCOPED_TRACE(to_string(type));
      EXPECT_EQ(user.acquire("k", type, id(1), lease).kind, Kind::granted);
      EXPECT_EQ(user.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
      EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
    }
    user.acquire("k", LockType::WRITE, id(1), lease);
    EXPECT_EQ(user.downgrade("k", id(1), lease).kind, Kind::granted);
    EXPECT_EQ(user.send(Verb::force_release, "k").kind, Kind::granted);
  }
}

TEST_F(ScriptsWithoutPermission, APlainLockNeedsItsOwnKeyOnly) {
  ScriptClient user = as_user({"~order:*", "resetchannels", "+@all"});
  EXPECT_EQ(user.acquire("order:1", LockType::REENTRANT, id(1), lease).kind, Kind::granted);
  EXPECT_EQ(user.renew("order:1", LockType::REENTRANT, id(1), lease).kind, Kind::granted);
  EXPECT_EQ(user.send(Verb::release, "order:1", LockType::REENTRANT, id(1)).kind, Kind::granted);
}

TEST_F(ScriptsWithoutPermission, AForbiddenKeyIsRefusedWithASentence) {
  ScriptClient user = as_user({"~order:*", server.all_channels(), "+@all"});
  const Outcome outcome = user.acquire("customer:1", LockType::REENTRANT, id(1), lease);
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_NE(outcome.reason.find("the user of this connection lacks a permission (NOPERM"),
            std::string::npos)
      << outcome.reason;
}

TEST_F(ScriptsWithoutPermission, AForbiddenCommandIsRefusedWithASentenceAndLeavesNothing) {
  ScriptClient no_scripts = as_user({"~*", server.all_channels(), "+@all", "-evalsha"});
  EXPECT_EQ(no_scripts.acquire("k", LockType::REENTRANT, id(1), lease).kind, Kind::refused);
  ScriptClient no_hash = as_user({"~*", server.all_channels(), "+@all", "-hset"});
  const Outcome outcome = no_hash.acquire("k", LockType::REENTRANT, id(1), lease);
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_NE(outcome.reason.find("permission"), std::string::npos) << outcome.reason;
  EXPECT_EQ(outcome.reason.find("user_script"), std::string::npos) << outcome.reason;
  EXPECT_EQ(keys(), Names{});
}

using ScriptsForgotten = ScriptTest;

TEST_F(ScriptsForgotten, AFlushedScriptIsSentAgain) {
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    ASSERT_EQ(client.acquire("k", type, id(1), lease).kind, Kind::granted);
    redis({"SCRIPT", "FLUSH"});
    EXPECT_EQ(client.renew("k", type, id(1), lease).kind, Kind::granted);
    redis({"SCRIPT", "FLUSH"});
    EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
  }
}

TEST_F(ScriptsForgotten, TheDigestEqualsTheServersDigest) {
  for (const auto* const script : detail::redis::scripts::all()) {
    EXPECT_EQ(redis({"SCRIPT", "LOAD", script->text}).text(), script->sha1) << script->name;
  }
  EXPECT_EQ(detail::redis::scripts::all().size(), 53U);
}

TEST(ScriptsOnAReplica, NothingIsGrantedAndNoHoldIsConfirmed) {
  RedisServer server;
  RedisClient redis = server.client();
  ScriptClient client(server.client());
  const HoldId id{{1, 2}, 3};
  for (const LockType type : all_types) {
    const std::string key(to_string(type));
    client.acquire(key, type, id, std::chrono::minutes(1));
  }
  redis({"REPLICAOF", "127.0.0.1", "1"});
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    const std::string key(to_string(type));
    for (const Verb verb : {Verb::verify, Verb::release, Verb::leave}) {
      const Outcome outcome = client.send(verb, key, type, id);
      EXPECT_EQ(outcome.kind, Kind::unknown);
      EXPECT_TRUE(outcome.reason.starts_with("the server is a replica")) << outcome.reason;
    }
    EXPECT_EQ(client.renew(key, type, id, std::chrono::hours(1)).kind, Kind::unknown);
    EXPECT_EQ(client.renew(key, type, id, std::chrono::seconds(1)).kind, Kind::unknown);
    EXPECT_EQ(client.acquire("free", type, id, std::chrono::hours(1)).kind, Kind::unknown);
  }
  redis({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(client.send(Verb::verify, "READ", LockType::READ, id).kind, Kind::granted);
}

}  // namespace
}  // namespace latchkey::tests
