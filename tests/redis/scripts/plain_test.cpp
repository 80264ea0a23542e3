// REENTRANT and FENCED on a real server: Redisson's keys, fields and messages, to the letter.
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

class PlainScripts : public ScriptTest {
 protected:
  static constexpr auto plain = LockType::REENTRANT;
  static constexpr auto fenced = LockType::FENCED;
};

TEST_F(PlainScripts, AcquireCreatesRedissonsHash) {
  const Outcome outcome = client.acquire("order:42", plain, id(1), lease);
  EXPECT_EQ(outcome.kind, Kind::granted);
  EXPECT_EQ(outcome.token, 0U);
  EXPECT_EQ(keys(), Names{"order:42"});
  EXPECT_EQ(hash("order:42"), (Fields{{"6ad76760-e86c-8273-a5a4-ad3e58e61a2b:1", "1"}}));
  expect_ttl("order:42", lease);
}

TEST_F(PlainScripts, BusyNamesTheHolderAndItsLease) {
  client.acquire("k", plain, id(1), lease);
  const Outcome outcome = client.acquire("k", plain, id(2), lease);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_EQ(outcome.holder, owner(1));
  ASSERT_TRUE(outcome.retry_after);
  EXPECT_LE(*outcome.retry_after, lease);
  EXPECT_GT(*outcome.retry_after, lease - milliseconds(5'000));
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
}

TEST_F(PlainScripts, ALockWithoutATtlIsBusyWithoutARetryTime) {
  redis({"HSET", "k", owner(9), "1"});
  const Outcome outcome = client.acquire("k", plain, id(1), lease);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_EQ(outcome.retry_after, std::nullopt);
}

TEST_F(PlainScripts, AcquireByTheHolderRestartsTheLeaseAndNeverShortensIt) {
  client.acquire("k", plain, id(1), lease);
  EXPECT_EQ(client.acquire("k", plain, id(1), 2 * lease).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(client.acquire("k", plain, id(1), lease).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
}

TEST_F(PlainScripts, ReleaseDeletesTheKeyAndNotifiesOnce) {
  Subscriber listener = subscribe({"redisson_lock__channel:{k}"});
  client.acquire("k", plain, id(1), lease);
  EXPECT_EQ(client.send(Verb::release, "k", plain, id(1)).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{});
  EXPECT_EQ(listener.next(), "redisson_lock__channel:{k} 0");
  EXPECT_TRUE(listener.received_nothing_else());
}

TEST_F(PlainScripts, AnIdleLockEndsEarlierAndKnowsWhoWaits) {
  Request idle = ScriptClient::make_request(Verb::expire, "k", plain, id(1), lease / 4);
  idle.recall = true;
  EXPECT_EQ(client.send(idle).kind, Kind::gone);
  client.acquire("k", plain, id(1), lease);
  const Outcome alone = client.send(idle);
  EXPECT_EQ(alone.kind, Kind::granted);
  EXPECT_FALSE(alone.wanted);
  expect_ttl("k", lease / 4);
  expect_knows_who_waits(idle);
}

TEST_F(PlainScripts, AnIdleLockIsRenewedAndKnowsWhoWaits) {
  Request renewal = ScriptClient::make_request(Verb::renew, "k", plain, id(1), lease);
  renewal.recall = true;
  EXPECT_EQ(client.send(renewal).kind, Kind::gone);
  client.acquire("k", plain, id(1), lease / 4);
  const Outcome alone = client.send(renewal);
  EXPECT_EQ(alone.kind, Kind::granted);
  EXPECT_FALSE(alone.wanted);
  expect_ttl("k", lease);
  renewal.lease = lease / 4;
  client.send(renewal);
  EXPECT_GT(pttl("k"), lease.count() / 4) << "a late one shortens no lease";
  expect_knows_who_waits(renewal);
}

TEST_F(PlainScripts, ANameWithAHashTagGetsNoBraces) {
  Subscriber listener = subscribe({"redisson_lock__channel:{order}:42"});
  client.acquire("{order}:42", plain, id(1), lease);
  EXPECT_EQ(client.send(Verb::release, "{order}:42", plain, id(1)).kind, Kind::granted);
  EXPECT_EQ(listener.next(), "redisson_lock__channel:{order}:42 0");
}

TEST_F(PlainScripts, ReleaseByANonHolderChangesNothing) {
  Subscriber listener = subscribe({"redisson_lock__channel:{k}"});
  client.acquire("k", plain, id(1), lease);
  EXPECT_EQ(client.send(Verb::release, "k", plain, id(2)).kind, Kind::gone);
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
  EXPECT_EQ(client.send(Verb::release, "free", plain, id(2)).kind, Kind::gone);
  EXPECT_TRUE(listener.received_nothing_else());
}

TEST_F(PlainScripts, LeaveByTheHolderReleases) {
  client.acquire("k", plain, id(1), lease);
  EXPECT_EQ(client.send(Verb::leave, "k", plain, id(1)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::leave, "k", plain, id(1)).kind, Kind::gone);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(PlainScripts, RenewExtendsTheLeaseAndNeverShortensIt) {
  EXPECT_EQ(client.renew("k", plain, id(1), lease).kind, Kind::gone);
  client.acquire("k", plain, id(1), lease);
  EXPECT_EQ(client.renew("k", plain, id(1), 3 * lease).kind, Kind::granted);
  expect_ttl("k", 3 * lease);
  EXPECT_EQ(client.renew("k", plain, id(1), lease).kind, Kind::granted);
  expect_ttl("k", 3 * lease);
  EXPECT_EQ(client.renew("k", plain, id(2), 9 * lease).kind, Kind::gone);
  expect_ttl("k", 3 * lease);
}

TEST_F(PlainScripts, VerifyReportsTheHoldAndChangesNothing) {
  EXPECT_EQ(client.send(Verb::verify, "k", plain, id(1)).kind, Kind::gone);
  client.acquire("k", plain, id(1), lease);
  redis({"PEXPIRE", "k", "30000"});
  EXPECT_EQ(client.send(Verb::verify, "k", plain, id(1)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::verify, "k", plain, id(2)).kind, Kind::gone);
  expect_ttl("k", milliseconds(30'000));
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
}

TEST_F(PlainScripts, AReadOrWriteBlocksEvenItsOwnHolder) {
  for (const LockType other : {LockType::READ, LockType::WRITE}) {
    redis({"FLUSHALL"});
    client.acquire("k", other, id(1), lease);
    const Fields before = hash("k");
    for (const LockType type : {plain, fenced}) {
      for (const std::uint64_t who : {1U, 2U}) {
        const Outcome outcome = client.acquire("k", type, id(who), lease);
        EXPECT_EQ(outcome.kind, Kind::busy);
        EXPECT_EQ(outcome.holder, owner(1));
      }
    }
    EXPECT_EQ(hash("k"), before);
  }
}

TEST_F(PlainScripts, AKeyOfAnotherTypeIsRefusedWithASentence) {
  redis({"SET", "k", "mine"});
  for (const LockType type : {plain, fenced, LockType::FAIR, LockType::READ, LockType::WRITE}) {
    const Outcome outcome = client.acquire("k", type, id(1), lease);
    EXPECT_EQ(outcome.kind, Kind::refused);
    EXPECT_EQ(
        outcome.reason,
        "the key holds something that is not a lock (WRONGTYPE Operation against a key holding "
        "the wrong kind of value)");
  }
  EXPECT_EQ(keys(), Names{"k"});
}

TEST_F(PlainScripts, FencedTokensStartAtTheServersClockAndIncrease) {
  const auto before = static_cast<std::uint64_t>(now_ms()) * 1000;
  const Outcome first = client.acquire("k", fenced, id(1), lease);
  EXPECT_EQ(first.kind, Kind::granted);
  EXPECT_GE(first.token, before);
  EXPECT_EQ(keys(), (Names{"k", "redisson_lock_token:{k}"}));
  EXPECT_EQ(redis({"GET", "redisson_lock_token:{k}"}).text(), std::to_string(first.token));
  EXPECT_EQ(pttl("redisson_lock_token:{k}"), -1);
  client.send(Verb::release, "k", fenced, id(1));
  EXPECT_EQ(keys(), Names{"redisson_lock_token:{k}"});
  const Outcome second = client.acquire("k", fenced, id(2), lease);
  EXPECT_GT(second.token, first.token);
}

TEST_F(PlainScripts, FencedTokensIncreaseAfterTheClockWentBack) {
  redis({"SET", "redisson_lock_token:{k}", "9000000000000000"});  // the year 2255
  EXPECT_EQ(client.acquire("k", fenced, id(1), lease).token, 9'000'000'000'000'001U);
  client.send(Verb::release, "k", fenced, id(1));
  EXPECT_EQ(client.acquire("k", fenced, id(2), lease, {}, 100).token, 9'000'000'000'000'101U);
  EXPECT_EQ(redis({"GET", "redisson_lock_token:{k}"}).text(), "9000000000000101");
}

TEST_F(PlainScripts, FencedTokensThatWouldOverflowAreRefused) {
  redis({"SET", "redisson_lock_token:{k}", "9007199254740991"});
  const Outcome outcome = client.acquire("k", fenced, id(1), lease);
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_NE(outcome.reason.find("the fencing token has reached 2^53"), std::string::npos);
  EXPECT_EQ(keys(), Names{"redisson_lock_token:{k}"});
}

TEST_F(PlainScripts, ABusyFencedLockUsesNoToken) {
  const Outcome held = client.acquire("k", fenced, id(1), lease);
  const Outcome busy = client.acquire("k", fenced, id(2), lease);
  EXPECT_EQ(busy.kind, Kind::busy);
  EXPECT_EQ(busy.holder, owner(1));
  EXPECT_EQ(redis({"GET", "redisson_lock_token:{k}"}).text(), std::to_string(held.token));
}

TEST_F(PlainScripts, FencedAcquireByTheHolderKeepsTheToken) {
  const Outcome first = client.acquire("k", fenced, id(1), lease, {}, 50);
  const Outcome again = client.acquire("k", fenced, id(1), 2 * lease, {}, 50);
  EXPECT_EQ(again.kind, Kind::granted);
  EXPECT_EQ(again.token, first.token);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
}

TEST_F(PlainScripts, AFencedTokenFollowsOneThatJavaIncremented) {
  redis({"SET", "redisson_lock_token:{k}", "9000000000000000"});
  redis({"INCR", "redisson_lock_token:{k}"});
  EXPECT_EQ(client.acquire("k", fenced, id(1), lease).token, 9'000'000'000'000'002U);
}

TEST_F(PlainScripts, FencedReleaseNotifiesThePlainChannel) {
  Subscriber listener = subscribe({"redisson_lock__channel:{k}"});
  client.acquire("k", fenced, id(1), lease);
  client.send(Verb::release, "k", fenced, id(1));
  EXPECT_EQ(listener.next(), "redisson_lock__channel:{k} 0");
}

TEST_F(PlainScripts, ShardedPublishReachesShardedSubscribers) {
  if (server.version() < 700) GTEST_SKIP() << "sharded channels came with Redis 7";
  Subscriber sharded(server, {"redisson_lock__channel:{k}"}, true);
  Subscriber usual = subscribe({"redisson_lock__channel:{k}"});
  ScriptClient in_cluster(server.client(), {.sharded_publish = true});
  in_cluster.acquire("k", plain, id(1), lease);
  EXPECT_EQ(in_cluster.send(Verb::release, "k", plain, id(1)).kind, Kind::granted);
  EXPECT_EQ(sharded.next(), "redisson_lock__channel:{k} 0");
  EXPECT_TRUE(usual.received_nothing_else());
}

}  // namespace
}  // namespace latchkey::tests
