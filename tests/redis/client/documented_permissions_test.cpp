// The commands that docs/redis.md lists for each feature are enough.
#include <sstream>

#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

using enum LockType;

class DocumentedPermissions : public ScriptTest {
 protected:
  static constexpr std::string_view reentrant =
      "exists hset hdel hexists hscan pexpire pttl publish ";

  /// From now on `user` may do this and nothing else.
  void permit(std::initializer_list<std::string_view> commands) {
    redis({"ACL", "SETUSER", "app", "-@all", "+eval", "+evalsha"});
    for (const std::string_view some : commands) {
      std::istringstream words{std::string(some)};
      for (std::string word; words >> word;) {
        EXPECT_FALSE(redis({"ACL", "SETUSER", "app", "+" + word}).is_error()) << word;
      }
    }
    redis({"FLUSHALL"});
  }
  Outcome send(Request request) {
    request.queue_wait = queue_wait;
    const Outcome outcome = user_.send(request);
    EXPECT_NE(outcome.kind, Kind::refused) << to_string(request.verb) << ": " << outcome.reason;
    return outcome;
  }
  Outcome send(Verb verb, LockType type, std::uint64_t number, bool queues = false) {
    Request request = ScriptClient::make_request(verb, "k", type, id(number), lease);
    request.queues = queues;
    request.permits = {1, 1};
    return send(request);
  }
  /// All that a holder and a waiter do.
  void use(LockType type, bool queues = false) {
    SCOPED_TRACE(to_string(type));
    EXPECT_EQ(send(Verb::acquire, type, 1).kind, Kind::granted);
    EXPECT_EQ(send(Verb::acquire, type, 1).kind, Kind::granted);
    EXPECT_EQ(send(Verb::renew, type, 1).kind, Kind::granted);
    EXPECT_EQ(send(Verb::verify, type, 1).kind, Kind::granted);
    for (const std::uint64_t number : {2U, 3U}) {
      const Outcome outcome = send(Verb::acquire, type, number, queues);
      EXPECT_TRUE(!queues || outcome.place != 0) << "no place";
    }
    EXPECT_EQ(send(Verb::leave, type, 3, queues).kind, Kind::granted);
    EXPECT_EQ(send(Verb::expire, type, 1).kind, Kind::granted);
    EXPECT_EQ(send(Verb::release, type, 1).kind, Kind::granted);
    EXPECT_EQ(send(Verb::acquire, type, 2, queues).kind, Kind::granted);
    EXPECT_EQ(send(Verb::release, type, 2).kind, Kind::granted);
  }

 private:
  ScriptClient user_ = as_user({"~*", server.all_channels(), "-@all"});
};

TEST_F(DocumentedPermissions, AreEnoughForEachTypeOfLock) {
  constexpr std::string_view read_write = "del hget hlen set time ";
  permit({reentrant});
  send(Verb::acquire, REENTRANT, 1);
  EXPECT_EQ(send(Verb::acquire, REENTRANT, 2, true).place, 0U);
  EXPECT_EQ(send(Verb::leave, REENTRANT, 2, true).kind, Kind::gone);
  EXPECT_EQ(send(Verb::release, REENTRANT, 1).kind, Kind::granted);
  permit({reentrant, "get set time"});
  send(Verb::acquire, FENCED, 1);
  EXPECT_EQ(send(Verb::acquire, FENCED, 2).kind, Kind::busy);
  EXPECT_EQ(send(Verb::release, FENCED, 1).kind, Kind::granted);
  permit({reentrant, read_write});
  use(READ);
  EXPECT_EQ(send(Verb::acquire, WRITE, 1).kind, Kind::granted);
  EXPECT_EQ(send(Verb::acquire, READ, 2).kind, Kind::busy);
  EXPECT_EQ(send(Verb::downgrade, WRITE, 1).kind, Kind::granted);
  EXPECT_EQ(send(Verb::acquire, WRITE, 2).kind, Kind::busy);
  EXPECT_EQ(send(Verb::release, READ, 1).kind, Kind::granted);
}

TEST_F(DocumentedPermissions, AreEnoughForAWriteOrFairWithAToken) {
  for (const LockType type : {WRITE, FAIR}) {
    permit({reentrant, "get set time", "del hget hlen",
            "lindex lpop lpos lrange lrem rpush persist zadd zrange zrem zscore pubsub"});
    Request request = ScriptClient::make_request(Verb::acquire, "k", type, id(1), lease);
    request.fenced = true;
    EXPECT_GT(send(request).token, 0U);
    request.id = id(2);
    EXPECT_EQ(send(request).kind, Kind::busy);
    EXPECT_EQ(send(Verb::release, type, 1).kind, Kind::granted);
    EXPECT_GT(send(request).token, 0U);
  }
}

TEST_F(DocumentedPermissions, AreEnoughForTheProcessQueue) {
  constexpr std::string_view queue = "hget zadd zrange zrem zscore time pubsub get set del ";
  permit({reentrant, queue});
  Subscriber second = subscribe({"redisson_lock__channel:{k}:" + owner(2).substr(0, 36)});
  for (const LockType type : {REENTRANT, FENCED}) use(type, true);
  permit({reentrant, queue, "hlen"});
  use(WRITE, true);
}

TEST_F(DocumentedPermissions, AreEnoughForFair) {
  permit({reentrant,
          "lindex lpop lpos lrange lrem rpush persist time zadd zrange zrem zscore pubsub"});
  Subscriber second = subscribe({"redisson_lock__channel:{k}:" + owner(2)});
  use(FAIR);
}

TEST_F(DocumentedPermissions, AreEnoughForSemaphoresAndLatches) {
  permit(
      {"decrby exists get hget hdel hlen hset incrby pexpire pttl publish set time zadd zcard "
       "zrange zrangebyscore zrem zscore"});
  EXPECT_EQ(send(Verb::acquire, PERMIT, 1).kind, Kind::granted);
  EXPECT_EQ(send(Verb::acquire, PERMIT, 2, true).place, 1U);
  EXPECT_EQ(send(Verb::renew, PERMIT, 1).kind, Kind::granted);
  EXPECT_EQ(send(Verb::verify, PERMIT, 1).kind, Kind::granted);
  EXPECT_EQ(send(Verb::release, PERMIT, 1).kind, Kind::granted);
  EXPECT_EQ(send(Verb::acquire, PERMIT, 2, true).kind, Kind::granted);
  permit({"decr del exists get publish set"});
  for (const Verb verb : {Verb::latch_set, Verb::latch_down, Verb::latch_count, Verb::latch_set,
                          Verb::latch_delete}) {
    send(verb, REENTRANT, 1);
  }
}

TEST_F(DocumentedPermissions, AreEnoughForRevocation) {
  permit({"publish"});
  EXPECT_EQ(send(Verb::revoke, REENTRANT, 1).kind, Kind::granted);
  Subscriber holder = subscribe({"latchkey_revoke:{k}"});
  client.acquire("k", REENTRANT, id(1), lease);
  EXPECT_EQ(send(Verb::revoke, REENTRANT, 1).notified, 1U);
  EXPECT_FALSE(client.inspect("k").holders.at(0).revoked) << "nothing is noted";
  permit({"publish hgetall pexpireat pttl set time"});
  client.acquire("k", REENTRANT, id(1), lease);
  EXPECT_EQ(send(Verb::revoke, REENTRANT, 1).notified, 1U);
  EXPECT_TRUE(client.inspect("k").holders.at(0).revoked);
}

TEST_F(DocumentedPermissions, AreEnoughForAdministration) {
  permit({reentrant,
          "lindex lpop lpos lrange lrem rpush persist time zadd zrange zrem zscore pubsub",
          "dbsize hgetall hget hlen scan zcard zcount get del"});
  for (const LockType type : {REENTRANT, WRITE}) {
    client.acquire("k", type, id(1), lease);
    LockInfo info;
    Request look = ScriptClient::make_request(Verb::inspect, "k");
    look.info = &info;
    EXPECT_EQ(send(look).kind, Kind::granted);
    EXPECT_EQ(info.holders.size(), 1U);
    std::vector<std::string> names;
    ListPart part, awaited{.awaited = true};
    for (ListPart* const each : {static_cast<ListPart*>(nullptr), &part, &awaited}) {
      Request list = ScriptClient::make_request(Verb::list, "*");
      list.names = &names;
      list.part = each;
      EXPECT_EQ(send(list).kind, Kind::granted);
    }
    EXPECT_EQ(send(Verb::force_release, type, 1).kind, Kind::granted);
  }
}

}  // namespace
}  // namespace latchkey::tests
