// Leases of READs that expire, or that the expire script shortens.
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

class ReadLeaseScripts : public ScriptTest {
 protected:
  static constexpr auto read = LockType::READ;
  static constexpr auto write = LockType::WRITE;
};

// The hash may outlive its readers: it has the longest lease that was ever requested.
TEST_F(ReadLeaseScripts, AWriterDropsReadersWhoseLeasesHaveEndedAndTakesTheLock) {
  for (std::uint64_t number = 1; number <= 20; ++number) {
    client.acquire("k", read, id(number), lease);
    end_read_lease(number);
  }
  Outcome outcome = client.acquire("k", write, id(21), lease);
  for (int attempt = 1; attempt < 10 && outcome.kind == Kind::busy; ++attempt) {
    EXPECT_EQ(outcome.retry_after, milliseconds(1)) << "the coordinator retries at once";
    outcome = client.acquire("k", write, id(21), lease);
  }
  EXPECT_EQ(outcome.kind, Kind::granted);
  EXPECT_EQ(hash("k"), (Fields{{"mode", "write"}, {owner(21) + ":write", "1"}}));
}

TEST_F(ReadLeaseScripts, AWriterWaitsNoLongerThanTheLongestLeaseThatIsLeft) {
  client.acquire("k", read, id(1), 5 * lease);
  client.acquire("k", read, id(2), lease);
  end_read_lease(1);
  const Outcome outcome = client.acquire("k", write, id(3), lease);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_LE(outcome.retry_after.value_or(milliseconds(0)), lease);
  expect_ttl("k", lease);
  EXPECT_EQ(hash("k"), (Fields{{"mode", "read"}, {owner(2), "1"}}));
}

TEST_F(ReadLeaseScripts, ExpireShortensTheLeaseOfAReadAndOfItsHash) {
  client.acquire("k", read, id(1), 5 * lease);
  client.acquire("k", read, id(2), 2 * lease);
  EXPECT_EQ(client.send(ScriptClient::make_request(Verb::expire, "k", read, id(1), lease)).kind,
            Kind::granted);
  expect_ttl(timeout_key("{k}", 1), lease);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(client.send(ScriptClient::make_request(Verb::expire, "k", read, id(2), 9 * lease)).kind,
            Kind::granted)
      << "never later than before";
  expect_ttl(timeout_key("{k}", 2), 2 * lease);
  EXPECT_EQ(client.send(ScriptClient::make_request(Verb::expire, "k", read, id(3), lease)).kind,
            Kind::gone);
}

TEST_F(ReadLeaseScripts, AnIdleReadEndsEarlierAndKnowsWhoWaits) {
  Request idle = ScriptClient::make_request(Verb::expire, "k", read, id(1), lease);
  idle.recall = true;
  EXPECT_EQ(client.send(idle).kind, Kind::gone);
  client.acquire("k", read, id(1), 5 * lease);
  const Outcome alone = client.send(idle);
  EXPECT_EQ(alone.kind, Kind::granted);
  EXPECT_FALSE(alone.wanted);
  expect_ttl(timeout_key("{k}", 1), lease);
  expect_ttl("k", lease);
  expect_knows_who_waits(idle);
}

// Each change of the hash is a message to all processes that keep a READ.
TEST_F(ReadLeaseScripts, AnIdleReadAmongOthersChangesTheHashOnlyIfThatMatters) {
  client.acquire("k", read, id(1), 5 * lease);
  client.acquire("k", read, id(2), lease);
  Request idle = ScriptClient::make_request(Verb::expire, "k", read, id(1), lease);
  idle.recall = true;
  EXPECT_FALSE(client.send(idle).wanted) << "others read, and do not wait";
  expect_ttl("k", lease);
  const long long ends = now_ms() + 5 * lease.count();
  redis({"PEXPIREAT", timeout_key("{k}", 2), std::to_string(ends)});
  redis({"PEXPIREAT", "k", std::to_string(ends + 40)});
  client.send(idle);
  EXPECT_GE(now_ms() + pttl("k"), ends + 35);
}

TEST_F(ReadLeaseScripts, AnIdleReadIsRenewedAndChangesTheHashInSteps) {
  Request renewal = ScriptClient::make_request(Verb::renew, "k", read, id(1), lease);
  renewal.recall = true;
  EXPECT_EQ(client.send(renewal).kind, Kind::gone);
  client.acquire("k", read, id(1), lease / 4);
  EXPECT_FALSE(client.send(renewal).wanted);
  expect_ttl(timeout_key("{k}", 1), lease);
  const long long hash = pttl("k");
  EXPECT_GE(hash - pttl(timeout_key("{k}", 1)), 100);
  EXPECT_LE(hash, lease.count() + 100);
  const long long ends = now_ms() + lease.count() + 60'000;
  redis({"PEXPIREAT", "k", std::to_string(ends)});
  client.send(renewal);
  EXPECT_GE(now_ms() + pttl("k"), ends - 5);
  expect_knows_who_waits(renewal);
}

// A TTL of 0 is that of a key which ends within this millisecond. The release of the other reader
// kept the lock for the whole of its own lease then.
TEST_F(ReadLeaseScripts, AReaderWhoseLeaseEndsWithinThisMillisecondDoesNotKeepTheLock) {
  for (int round = 0; round < 500; ++round) {
    client.acquire("k", read, id(1), lease);
    client.acquire("k", read, id(2), lease);
    redis({"PEXPIRE", timeout_key("{k}", 2), "1"});
    client.send(Verb::release, "k", read, id(1));
    ASSERT_LE(redis({"PTTL", "k"}).integer(), 1) << "in round " << round;
    redis({"FLUSHALL"});
  }
}

}  // namespace
}  // namespace latchkey::tests
