// Who has a place in the process queue, for how long and at which cost, and who counts as another
// one that waits, on a real server.
#include <limits>
#include <vector>

#include "redis/scripts/process_queue_fixture.hpp"

namespace latchkey::tests {
namespace {

using enum LockType;

// Each had its place for as long as any process waited, and was granted the lock for 3 s in its
// turn.
TEST_F(ProcessQueueScripts, ProcessesThatFrozeWhileTheyWaitedLoseTheirPlacesTogether) {
  std::vector<std::string> channels;
  for (std::uint64_t number = 2; number <= 20; ++number) channels.push_back(channel(number));
  Subscriber all = subscribe(channels);
  wait(1);
  for (std::uint64_t number = 2; number < 20; ++number) {
    wait(number);
    end_place_of(number, number % 2 == 0 ? 1 : now_ms() + 3'600'000);
  }
  const std::uint64_t place = wait(20).place;
  release(1);
  for (std::uint64_t number = 2; number < 20; ++number) {
    EXPECT_EQ(all.next(), ask(number)) << "it may be the server that stood still";
  }
  EXPECT_EQ(all.next(), grant(20, place));
  EXPECT_TRUE(holds(20));
}

TEST_F(ProcessQueueScripts, AProcessThatFrozeIsNotTheFirstThatIsTold) {
  Subscriber java = subscribe({"redisson_lock__channel:{k}"});
  Subscriber both = subscribe({channel(2), channel(3)});
  wait(1);
  wait(2);
  wait(3);
  end_place_of(2);
  EXPECT_EQ(release(1).notified, 1U);
  EXPECT_EQ(both.next(), ask(2));
  EXPECT_EQ(both.next(), ask(3));
  EXPECT_EQ(wait(3).kind, Kind::granted);
}

TEST_F(ProcessQueueScripts, AProcessThatComesBackInTimeKeepsItsPlace) {
  Subscriber second = subscribe({channel(2)});
  wait(1);
  const std::uint64_t place = wait(2).place;
  wait(3);
  end_place_of(2);
  EXPECT_EQ(wait(2).place, place) << "nobody has looked for the first since it ended";
  release(1);
  EXPECT_EQ(second.next(), grant(2, place));
}

// Each attempt read the whole queue, so the processes that waited cost the square of their number.
TEST_F(ProcessQueueScripts, AnAttemptCostsNoMoreIfManyProcessesWait) {
  const auto fastest_of = [&](std::uint64_t waiting) {
    redis({"FLUSHALL"});
    for (std::uint64_t number = 1; number <= waiting; ++number) wait(number);
    long long least = std::numeric_limits<long long>::max();
    for (int times = 0; times < 50; ++times) {
      redis({"CONFIG", "RESETSTAT"});
      wait(2);
      const std::string stats = redis({"INFO", "commandstats"}).text();
      constexpr std::string_view usec = ",usec=";
      const std::size_t at = stats.find(usec, stats.find("cmdstat_evalsha:"));
      least = std::min(least, std::stoll(stats.substr(at + usec.size())));
    }
    return std::max(least, 1LL);
  };
  const long long few = fastest_of(10), many = fastest_of(2'000);
  EXPECT_LT(many, 6 * few) << few << " us beside 9 others, " << many << " us beside 1 999";
}

// PUBLISH counts a client with a pattern, which looked like a client of Redisson that waits:
// nothing was granted, and each release made its process wait for the others.
TEST_F(ProcessQueueScripts, AClientWithAPatternIsNobodyWhoWaits) {
  RedisClient monitor = server.client();
  monitor({"PSUBSCRIBE", "*"});
  Subscriber second = subscribe({channel(2)});
  for (const LockType type : {REENTRANT, FENCED, WRITE}) {
    redis({"FLUSHALL"});
    wait(1, type);
    EXPECT_EQ(release(1, type).notified, 0U);
    wait(1, type);
    wait(2, type);
    EXPECT_EQ(release(1, type).notified, 0U);
    EXPECT_TRUE(holds(2, type));
    wait(3, type);
    EXPECT_EQ(leave(2, type).kind, Kind::granted);
  }
  client.acquire("k", READ, process(1), lease);
  wait(2, WRITE);
  client.send(Verb::release, "k", READ, process(1));
  EXPECT_TRUE(holds(2, WRITE));
  client.send(Verb::force_release, "k");
  client.acquire("k", FAIR, process(1), lease);
  wait(2);
  client.send(Verb::release, "k", FAIR, process(1));
  EXPECT_TRUE(holds(2));
}

TEST_F(ProcessQueueScripts, BesideAClientWithAPatternOthersThatListenAreCounted) {
  RedisClient monitor = server.client();
  monitor({"PSUBSCRIBE", "redisson_lock__channel:*"});
  Subscriber java = subscribe({"redisson_lock__channel:{k}"});
  wait(1);
  wait(2);
  EXPECT_EQ(release(1).notified, 1U);
  EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
  wait(1);
  ScriptClient user = as_user({"~*", server.all_channels(), "+@all", "-pubsub"});
  EXPECT_EQ(user.send(Verb::release, "k", REENTRANT, process(1)).notified, 2U)
      << "whom PUBLISH counts, if it may not be known who is subscribed";
}

// They listen to the lock's channel for what Redisson says.
TEST_F(ProcessQueueScripts, ThoseWhoListenInLineAreNotCounted) {
  const auto in_line = [&](const std::string& lock_channel) {
    return subscribe({lock_channel, lock_channel + ":in_line"});
  };
  Subscriber second = subscribe({channel(2)});
  for (const LockType type : {REENTRANT, FENCED, WRITE}) {
    redis({"FLUSHALL"});
    const std::string lock_channel =
        type == WRITE ? "redisson_rwlock:{k}" : "redisson_lock__channel:{k}";
    Subscriber first = in_line(lock_channel), frozen = in_line(lock_channel);
    wait(1, type);
    wait(2, type);
    EXPECT_EQ(release(1, type).notified, 0U);
    EXPECT_TRUE(holds(2, type));
    Subscriber java = subscribe({lock_channel});
    EXPECT_EQ(release(2, type).notified, 1U);
    EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
  }
}

TEST_F(ProcessQueueScripts, TheFirstTwoKnowThatTheyAre) {
  for (const LockType type : {REENTRANT, FENCED, WRITE}) {
    redis({"FLUSHALL"});
    Subscriber listener = subscribe({channel(2)});
    wait(1, type);
    for (int attempt = 0; attempt < 2; ++attempt) {
      EXPECT_TRUE(wait(2, type).near_front);
      EXPECT_TRUE(wait(3, type).near_front);
      EXPECT_FALSE(wait(4, type).near_front);
    }
    release(1, type);
    EXPECT_TRUE(wait(4, type).near_front);
  }
}

// Version 0.1 keeps a list under the name.
TEST_F(ProcessQueueScripts, BesideTheQueueOfAnOlderVersionAProcessIsNotifiedWithAllOthers) {
  Subscriber second = subscribe({"redisson_lock__channel:{k}"});
  for (const LockType type : {REENTRANT, FENCED}) {
    redis({"RPUSH", queue, process(9).text() + " 60000 0 99"});
    EXPECT_EQ(wait(1, type).kind, Kind::granted);
    const Outcome busy = wait(2, type);
    EXPECT_EQ(busy.kind, Kind::busy);
    EXPECT_EQ(busy.place, 0U);
    EXPECT_EQ(release(1, type).notified, 1U);
    EXPECT_EQ(second.next(), "redisson_lock__channel:{k} 0");
    EXPECT_EQ(wait(2, type).kind, Kind::granted);
    EXPECT_EQ(leave(2, type).kind, Kind::granted);
    EXPECT_EQ(redis({"LLEN", queue}).integer(), 1);
    redis({"FLUSHALL"});
    second.next();
  }
}

}  // namespace
}  // namespace latchkey::tests
