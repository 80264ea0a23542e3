// READ and WRITE on a real server: Redisson's keys, fields and messages, to the letter.
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

class ReadWriteScripts : public ScriptTest {
 protected:
  static constexpr auto read = LockType::READ;
  static constexpr auto write = LockType::WRITE;
};

TEST_F(ReadWriteScripts, WriteCreatesRedissonsHash) {
  EXPECT_EQ(client.acquire("k", write, id(1), lease).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{"k"});
  EXPECT_EQ(hash("k"), (Fields{{"mode", "write"}, {owner(1) + ":write", "1"}}));
  expect_ttl("k", lease);
}

TEST_F(ReadWriteScripts, ReadCreatesRedissonsHashAndATimeoutKey) {
  EXPECT_EQ(client.acquire("k", read, id(1), lease).kind, Kind::granted);
  EXPECT_EQ(keys(), (Names{"k", "{k}:6ad76760-e86c-8273-a5a4-ad3e58e61a2b:1:rwlock_timeout:1"}));
  EXPECT_EQ(hash("k"), (Fields{{"mode", "read"}, {owner(1), "1"}}));
  EXPECT_EQ(redis({"GET", timeout_key("{k}", 1)}).text(), "1");
  expect_ttl("k", lease);
  expect_ttl(timeout_key("{k}", 1), lease);
}

TEST_F(ReadWriteScripts, ANameWithAHashTagGetsNoBraces) {
  client.acquire("{order}:42", read, id(1), lease);
  EXPECT_EQ(keys(), (Names{"{order}:42", timeout_key("{order}:42", 1)}));
  Subscriber listener = subscribe({"redisson_rwlock:{order}:42"});
  EXPECT_EQ(client.send(Verb::release, "{order}:42", read, id(1)).kind, Kind::granted);
  EXPECT_EQ(listener.next(), "redisson_rwlock:{order}:42 0");
}

TEST_F(ReadWriteScripts, ReadersShareAndTheHashLivesAsLongAsTheLongest) {
  client.acquire("k", read, id(1), 3 * lease);
  EXPECT_EQ(client.acquire("k", read, id(2), lease).kind, Kind::granted);
  expect_ttl("k", 3 * lease);
  expect_ttl(timeout_key("{k}", 2), lease);
  EXPECT_EQ(client.acquire("k", read, id(3), 5 * lease).kind, Kind::granted);
  expect_ttl("k", 5 * lease);
  EXPECT_EQ(hash("k").size(), 4U);
}

TEST_F(ReadWriteScripts, BusyNamesAHolderWithoutTheFieldsSuffix) {
  client.acquire("k", write, id(1), lease);
  for (const LockType type : {read, write}) {
    const Outcome outcome = client.acquire("k", type, id(2), lease);
    EXPECT_EQ(outcome.kind, Kind::busy);
    EXPECT_EQ(outcome.holder, owner(1));
    EXPECT_GT(outcome.retry_after.value_or(milliseconds(0)), lease - milliseconds(5'000));
  }
  redis({"DEL", "k"});
  client.acquire("k", read, id(3), lease);
  const Outcome outcome = client.acquire("k", write, id(2), lease);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_EQ(outcome.holder, owner(3));
}

TEST_F(ReadWriteScripts, APlainLockBlocksThoughItsHashHasNoMode) {
  for (const LockType plain : {LockType::REENTRANT, LockType::FAIR, LockType::FENCED}) {
    redis({"FLUSHALL"});
    client.acquire("k", plain, id(1), lease);
    for (const LockType type : {read, write}) {
      const Outcome outcome = client.acquire("k", type, id(2), lease);
      EXPECT_EQ(outcome.kind, Kind::busy);
      EXPECT_EQ(outcome.holder, owner(1));
    }
    EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
  }
}

TEST_F(ReadWriteScripts, AcquireByTheHolderRestartsTheLeaseAndNeverShortensIt) {
  for (const LockType type : {read, write}) {
    redis({"FLUSHALL"});
    client.acquire("k", type, id(1), lease);
    EXPECT_EQ(client.acquire("k", type, id(1), 2 * lease).kind, Kind::granted);
    EXPECT_EQ(client.acquire("k", type, id(1), lease).kind, Kind::granted);
    expect_ttl("k", 2 * lease);
    if (type == read) expect_ttl(timeout_key("{k}", 1), 2 * lease);
    EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
    EXPECT_EQ(keys(), Names{});
  }
}

TEST_F(ReadWriteScripts, ReleasingAWriteNotifiesAllWaiters) {
  Subscriber listener = subscribe({"redisson_rwlock:{k}"});
  client.acquire("k", write, id(1), lease);
  EXPECT_EQ(client.send(Verb::release, "k", write, id(2)).kind, Kind::gone);
  EXPECT_TRUE(listener.received_nothing_else());
  EXPECT_EQ(client.send(Verb::release, "k", write, id(1)).kind, Kind::granted);
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 1");
  EXPECT_EQ(keys(), Names{});
}

TEST_F(ReadWriteScripts, OnlyTheLastReadersReleaseNotifies) {
  Subscriber listener = subscribe({"redisson_rwlock:{k}"});
  client.acquire("k", read, id(1), lease);
  client.acquire("k", read, id(2), lease);
  EXPECT_EQ(client.send(Verb::release, "k", read, id(1)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::release, "k", read, id(1)).kind, Kind::gone);
  EXPECT_TRUE(listener.received_nothing_else());
  EXPECT_EQ(keys(), (Names{"k", timeout_key("{k}", 2)}));
  EXPECT_EQ(client.send(Verb::release, "k", read, id(2)).kind, Kind::granted);
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 0");
  EXPECT_TRUE(listener.received_nothing_else());
  EXPECT_EQ(keys(), Names{});
}

TEST_F(ReadWriteScripts, ReleasingTheLongestReaderShortensTheHashsTtl) {
  client.acquire("k", read, id(1), 5 * lease);
  client.acquire("k", read, id(2), lease);
  client.acquire("k", read, id(3), 2 * lease);
  client.send(Verb::release, "k", read, id(2));
  expect_ttl("k", 5 * lease);
  client.send(Verb::release, "k", read, id(1));
  expect_ttl("k", 2 * lease);
}

TEST_F(ReadWriteScripts, AReaderWithoutATtlKeepsTheHash) {
  client.acquire("k", read, id(1), 3 * lease);
  client.acquire("k", read, id(2), lease);
  client.acquire("k", read, id(3), lease);
  redis({"PERSIST", timeout_key("{k}", 1)});  // by hand
  client.send(Verb::release, "k", read, id(2));
  expect_ttl("k", 3 * lease);
}

TEST_F(ReadWriteScripts, AReaderIsGoneOnceItsLeaseEndsWhileOthersRead) {
  client.acquire("k", read, id(1), lease);
  client.acquire("k", read, id(2), lease);
  end_read_lease(1);
  EXPECT_EQ(client.send(Verb::verify, "k", read, id(1)).kind, Kind::gone);
  EXPECT_EQ(client.renew("k", read, id(1), lease).kind, Kind::gone);
  EXPECT_EQ(redis({"EXISTS", timeout_key("{k}", 1)}).integer(), 0);
  EXPECT_EQ(client.send(Verb::release, "k", read, id(1)).kind, Kind::gone);
  EXPECT_EQ(hash("k"), (Fields{{"mode", "read"}, {owner(2), "1"}}));
  EXPECT_EQ(client.send(Verb::verify, "k", read, id(2)).kind, Kind::granted);
}

TEST_F(ReadWriteScripts, AcquireAndReleaseDropExpiredReaders) {
  for (std::uint64_t number = 1; number <= 10; ++number) {
    client.acquire("k", read, id(number), lease);
  }
  for (std::uint64_t number = 2; number <= 9; ++number) end_read_lease(number);
  client.acquire("k", read, id(11), lease);
  EXPECT_EQ(hash("k"),
            (Fields{{"mode", "read"}, {owner(1), "1"}, {owner(10), "1"}, {owner(11), "1"}}));
  end_read_lease(10);
  end_read_lease(11);
  Subscriber listener = subscribe({"redisson_rwlock:{k}"});
  EXPECT_EQ(client.send(Verb::release, "k", read, id(1)).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{});  // no live reader is left, so the hash is deleted at once
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 0");
}

TEST_F(ReadWriteScripts, ManyExpiredReadersAreDroppedOverSeveralCalls) {
  // Redis stores a small hash as a compact list and a large one as a table. The live readers come
  // first, so a script that always starts at the front would find no expired reader.
  for (const std::uint64_t crowd : {60U, 600U}) {
    redis({"FLUSHALL"});
    for (std::uint64_t number = 1; number <= crowd; ++number) {
      client.acquire("k", read, id(number), lease);
    }
    constexpr std::uint64_t alive = 20;
    for (std::uint64_t number = alive + 1; number <= crowd; ++number) end_read_lease(number);
    int rounds = 0;
    while (hash("k").size() > alive + 1 && ++rounds < 5'000)
      client.acquire("k", read, id(1), lease);
    EXPECT_EQ(hash("k").size(), alive + 1) << rounds << " rounds";
    for (std::uint64_t number = 1; number <= alive; ++number) {
      EXPECT_EQ(client.send(Verb::verify, "k", read, id(number)).kind, Kind::granted);
    }
  }
}

TEST_F(ReadWriteScripts, AmongManyReadersTheHashOutlivesLeasesThatWereNotChecked) {
  client.acquire("k", read, id(1), 3 * lease);
  for (std::uint64_t number = 2; number <= 40; ++number) {
    client.acquire("k", read, id(number), lease);
  }
  for (std::uint64_t round = 0; round < 20; ++round) {
    client.acquire("k", read, id(100 + round), 5 * lease);
    client.send(Verb::release, "k", read, id(100 + round));
    ASSERT_GT(pttl("k"), 2 * lease.count());
  }
}

TEST_F(ReadWriteScripts, LiveReadersAreNeverDropped) {
  constexpr std::uint64_t crowd = 200;
  for (std::uint64_t number = 1; number <= crowd; ++number) {
    ASSERT_EQ(client.acquire("k", read, id(number), lease).kind, Kind::granted);
  }
  EXPECT_EQ(hash("k").size(), crowd + 1);
  for (std::uint64_t number = 1; number <= crowd; ++number) {
    ASSERT_EQ(client.send(Verb::verify, "k", read, id(number)).kind, Kind::granted);
    ASSERT_EQ(client.send(Verb::release, "k", read, id(number)).kind, Kind::granted) << number;
  }
  EXPECT_EQ(keys(), Names{});
}

TEST_F(ReadWriteScripts, AJavaReaderHoldsUntilItsLastHoldExpires) {
  client.acquire("k", read, id(1), lease);
  redis({"HSET", "k", owner(7), "3"});
  redis({"SET", "{k}:" + owner(7) + ":rwlock_timeout:2", "1", "PX", "30000"});
  client.acquire("k", read, id(2), lease);
  client.send(Verb::release, "k", read, id(2));
  client.send(Verb::release, "k", read, id(1));
  EXPECT_EQ(hash("k"), (Fields{{"mode", "read"}, {owner(7), "3"}}));
  expect_ttl("k", milliseconds(30'000));
}

TEST_F(ReadWriteScripts, RenewExtendsHashAndTimeoutKeyAndNeverShortensThem) {
  for (const LockType type : {read, write}) {
    redis({"FLUSHALL"});
    EXPECT_EQ(client.renew("k", type, id(1), lease).kind, Kind::gone);
    client.acquire("k", type, id(1), lease);
    EXPECT_EQ(client.renew("k", type, id(1), 3 * lease).kind, Kind::granted);
    EXPECT_EQ(client.renew("k", type, id(1), lease).kind, Kind::granted);
    expect_ttl("k", 3 * lease);
    if (type == read) expect_ttl(timeout_key("{k}", 1), 3 * lease);
    EXPECT_EQ(client.renew("k", type, id(2), lease).kind, Kind::gone);
  }
}

TEST_F(ReadWriteScripts, VerifyReportsWhoHoldsWhat) {
  EXPECT_EQ(client.send(Verb::verify, "k", read, id(1)).kind, Kind::gone);
  EXPECT_EQ(client.send(Verb::verify, "k", write, id(1)).kind, Kind::gone);
  client.acquire("k", write, id(1), lease);
  EXPECT_EQ(client.send(Verb::verify, "k", write, id(1)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::verify, "k", write, id(2)).kind, Kind::gone);
  EXPECT_EQ(client.send(Verb::verify, "k", read, id(1)).kind, Kind::gone);
}

TEST_F(ReadWriteScripts, ALongReadOutlivesRedissonsRenewalOfTheHash) {
  client.acquire("k", read, id(1), 60 * lease);
  redis({"PEXPIRE", "k", "30000"});  // as Redisson's watchdog of another reader does
  EXPECT_EQ(client.send(Verb::verify, "k", read, id(1)).kind, Kind::granted);
  expect_ttl("k", 60 * lease);
  redis({"PEXPIRE", "k", "30000"});
  EXPECT_EQ(client.renew("k", read, id(1), lease).kind, Kind::granted);
  expect_ttl("k", 60 * lease);
}

TEST_F(ReadWriteScripts, DowngradeTurnsAWriteIntoAReadOfTheSameId) {
  client.acquire("k", write, id(1), lease);
  EXPECT_EQ(client.downgrade("k", id(1), lease / 2).kind, Kind::granted);
  EXPECT_EQ(hash("k"), (Fields{{"mode", "read"}, {owner(1), "1"}}));
  EXPECT_EQ(keys(), (Names{"k", timeout_key("{k}", 1)}));
  expect_ttl("k", lease);  // not shortened
  expect_ttl(timeout_key("{k}", 1), lease);
  EXPECT_EQ(client.acquire("k", read, id(2), lease).kind, Kind::granted);
  EXPECT_EQ(client.acquire("k", write, id(3), lease).kind, Kind::busy);
  EXPECT_EQ(client.send(Verb::release, "k", read, id(1)).kind, Kind::granted);
}

TEST_F(ReadWriteScripts, ARepeatedDowngradeIsGranted) {
  client.acquire("k", write, id(1), lease);
  client.downgrade("k", id(1), lease);
  EXPECT_EQ(client.downgrade("k", id(1), 2 * lease).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  expect_ttl(timeout_key("{k}", 1), 2 * lease);
  EXPECT_EQ(client.downgrade("k", id(2), lease).kind, Kind::gone);
  EXPECT_EQ(client.downgrade("free", id(1), lease).kind, Kind::gone);
  EXPECT_EQ(keys(), (Names{"k", timeout_key("{k}", 1)}));
}

TEST_F(ReadWriteScripts, LeaveOfAWriteReleasesItsDowngradedRead) {
  Subscriber listener = subscribe({"redisson_rwlock:{k}"});
  client.acquire("k", write, id(1), lease);
  client.downgrade("k", id(1), lease);
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 1");
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 00");
  client.acquire("k", read, id(2), 2 * lease);
  EXPECT_EQ(client.send(Verb::release, "k", write, id(1)).kind, Kind::gone);
  EXPECT_EQ(client.send(Verb::leave, "k", write, id(1)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::leave, "k", write, id(1)).kind, Kind::gone);
  EXPECT_EQ(keys(), (Names{"k", timeout_key("{k}", 2)}));
  EXPECT_EQ(client.send(Verb::leave, "k", write, id(2)).kind, Kind::granted);
  EXPECT_EQ(listener.next(), "redisson_rwlock:{k} 0");
  EXPECT_EQ(keys(), Names{});
}

TEST_F(ReadWriteScripts, LeaveByTheHolderReleases) {
  for (const LockType type : {read, write}) {
    client.acquire("k", type, id(1), lease);
    EXPECT_EQ(client.send(Verb::leave, "k", type, id(1)).kind, Kind::granted);
    EXPECT_EQ(client.send(Verb::leave, "k", type, id(1)).kind, Kind::gone);
    EXPECT_EQ(keys(), Names{});
  }
}

}  // namespace
}  // namespace latchkey::tests
