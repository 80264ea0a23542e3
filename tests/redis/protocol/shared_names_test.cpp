// The locks `k` and `{k}`, which share Redisson's names, on a real server: neither is granted, kept
// from READs or released by what concerns the other one.
#include "redis/scripts/fair_fixture.hpp"

namespace latchkey::tests {
namespace {

using enum LockType;

class SharedNames : public FairScripts {
 protected:
  Outcome take(std::string_view key, LockType type, std::uint64_t number,
               milliseconds wait = queue_wait) {
    return client.acquire(key, type, id(number), lease, wait);
  }
  bool holds(std::string_view key, LockType type, std::uint64_t number) {
    return client.send(Verb::verify, key, type, id(number)).kind == Kind::granted;
  }
};

// The release of `k` wrote the hold of a waiter for `{k}` into `k`, and told it that it had `{k}`,
// which somebody else held.
TEST_F(SharedNames, AFairReleaseGrantsNothingToAWaiterForTheOtherLock) {
  for (const bool braced_waits : {true, false}) {
    const std::string_view held = braced_waits ? "k" : "{k}", awaited = braced_waits ? "{k}" : "k";
    for (const Verb verb : {Verb::release, Verb::leave, Verb::force_release}) {
      SCOPED_TRACE(std::string(to_string(verb)) + " of " + std::string(held));
      redis({"FLUSHALL"});
      Subscriber waiter = subscribe({channel_of(3)});
      ASSERT_EQ(take(held, FAIR, 1).kind, Kind::granted);
      ASSERT_EQ(take(awaited, FAIR, 2).kind, Kind::granted);
      ASSERT_EQ(take(awaited, FAIR, 3).kind, Kind::busy);
      EXPECT_EQ(client.send(verb, held, FAIR, id(1)).kind, Kind::granted);
      EXPECT_EQ(waiter.next(), channel_of(3) + " 0") << "told, as one of Redisson's is";
      EXPECT_FALSE(holds(held, FAIR, 3));
      EXPECT_TRUE(holds(awaited, FAIR, 2));
      EXPECT_EQ(client.send(Verb::release, awaited, FAIR, id(2)).kind, Kind::granted);
      EXPECT_EQ(take(awaited, FAIR, 3).kind, Kind::granted);
    }
  }
}

TEST_F(SharedNames, AFairWaiterForANameThatContainsATagIsGrantedTheLock) {
  take("{k}:1", FAIR, 1);
  Subscriber waiter = subscribe({"redisson_lock__channel:{k}:1:" + owner(2)});
  take("{k}:1", FAIR, 2);
  client.send(Verb::release, "{k}:1", FAIR, id(1));
  EXPECT_TRUE(waiter.next().ends_with(" 0"));
  EXPECT_TRUE(holds("{k}:1", FAIR, 2));
}

TEST_F(SharedNames, AFairWaiterForANameInBracesTakesTheLockItself) {
  Subscriber waiter = subscribe({channel_of(2)});
  take("{k}", FAIR, 1);
  take("{k}", FAIR, 2);
  client.send(Verb::release, "{k}", FAIR, id(1));
  EXPECT_EQ(waiter.next(), channel_of(2) + " 0");
  EXPECT_EQ(take("{k}", FAIR, 2).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{"{k}"});
}

// A READ of one of them waited for a WRITE that waits for the other one, perhaps for its own
// thread.
TEST_F(SharedNames, AWriteThatWaitsKeepsNoReadOfTheOtherLockOut) {
  for (const std::string_view awaited : {"k", "{k}"}) {
    const std::string_view other = awaited == "k" ? "{k}" : "k";
    redis({"FLUSHALL"});
    take(awaited, READ, 1);
    EXPECT_EQ(take(awaited, WRITE, 2).kind, Kind::busy);
    EXPECT_EQ(take(awaited, READ, 3).kind, Kind::busy);
    EXPECT_EQ(take(other, READ, 4).kind, Kind::granted);
    client.send(Verb::release, other, READ, id(4));
    EXPECT_EQ(take(other, WRITE, 5).kind, Kind::granted);
    client.send(Verb::release, other, WRITE, id(5));
    EXPECT_EQ(take(awaited, READ, 3).kind, Kind::busy)
        << "the mark of its own WRITE is there still";
  }
}

TEST_F(SharedNames, TheTokensOfBothRiseThoughTheyAreTakenInTurn) {
  std::uint64_t last = 0;
  for (std::uint64_t number = 1; number <= 6; ++number) {
    const std::string_view key = number % 2 == 0 ? "k" : "{k}";
    const std::uint64_t token = take(key, FENCED, number).token;
    EXPECT_GT(token, last);
    last = token;
    EXPECT_EQ(client.send(Verb::release, key, FENCED, id(number)).kind, Kind::granted);
  }
}

}  // namespace
}  // namespace latchkey::tests
