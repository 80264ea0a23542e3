// FAIR on a real server: Redisson's list, scores and channels, and who comes next.
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

constexpr auto fair = LockType::FAIR;
constexpr std::string_view queue_key = "redisson_lock_queue:{k}";
constexpr std::string_view scores_key = "redisson_lock_timeout:{k}";

class FairScripts : public ScriptTest {
 protected:
  Outcome ask(std::uint64_t number, milliseconds wait = queue_wait) {
    return asker.acquire("k", fair, id(number), lease, wait);
  }
  Kind release(std::uint64_t number) {
    return asker.tell(Verb::release, "k", fair, id(number)).kind;
  }
  Kind leave(std::uint64_t number) { return asker.tell(Verb::leave, "k", fair, id(number)).kind; }
  Names queue() { return redis({"LRANGE", queue_key, "0", "-1"}).list(); }
  static Names owners(std::initializer_list<std::uint64_t> numbers) {
    Names names;
    for (const auto number : numbers) names.push_back(owner(number));
    return names;
  }
  /// How long the waiter counts as alive; 0: it has no score.
  long long score(const std::string& who) {
    const std::string text = redis({"ZSCORE", scores_key, who}).text();
    return text.empty() ? 0 : std::stoll(text) - now_ms();
  }
  void set_score(std::uint64_t number, long long from_now) {
    redis({"ZADD", scores_key, std::to_string(now_ms() + from_now), owner(number)});
  }
  void expect_score(std::uint64_t number, long long expected) {
    const long long left = score(owner(number));
    EXPECT_LE(left, expected) << number;
    EXPECT_GT(left, expected - 5'000) << number;
  }
  static std::string channel_of(std::uint64_t number) {
    return "redisson_lock__channel:{k}:" + owner(number);
  }
};

TEST_F(FairScripts, AFreeLockIsTakenAndNothingElseIsMade) {
  EXPECT_EQ(ask(1).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{"k"});
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
  expect_ttl("k", lease);
  EXPECT_EQ(release(1), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, WaitersStandInRedissonsList) {
  ask(1);
  for (const std::uint64_t number : {2U, 3U, 4U}) {
    const Outcome outcome = ask(number);
    EXPECT_EQ(outcome.kind, Kind::busy);
    EXPECT_EQ(outcome.text, owner(1));
  }
  EXPECT_EQ(queue(), owners({2, 3, 4}));
  EXPECT_EQ(keys(), (Names{"k", std::string(queue_key), std::string(scores_key)}));
  EXPECT_EQ(redis({"ZCARD", scores_key}).integer(), 3);
  EXPECT_EQ(pttl(queue_key), -1);  // Redisson gives them no end either
  EXPECT_EQ(pttl(scores_key), -1);
}

TEST_F(FairScripts, TheyAreServedInTheOrderOfAsking) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) ask(number);
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    EXPECT_EQ(release(number), Kind::granted);
    EXPECT_EQ(ask(4).kind, number == 3 ? Kind::granted : Kind::busy);
    if (number != 3) {
      EXPECT_EQ(ask(number + 1).kind, Kind::granted);
    }
  }
  EXPECT_EQ(keys(), Names{"k"});
}

TEST_F(FairScripts, AskedAgainTheHolderHoldsOnce) {
  ask(1);
  EXPECT_EQ(asker.acquire("k", fair, id(1), 2 * lease, queue_wait).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(ask(1).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(keys(), Names{"k"});
  EXPECT_EQ(release(1), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, AWaitOfZeroTakesNoPlaceAndLosesNone) {
  ask(1);
  EXPECT_EQ(ask(2, milliseconds(0)).kind, Kind::busy);
  EXPECT_EQ(queue(), Names{});
  ask(2);
  ask(3);
  const long long before = score(owner(3));
  EXPECT_EQ(ask(3, milliseconds(0)).kind, Kind::busy);
  EXPECT_EQ(queue(), owners({2, 3}));
  EXPECT_LE(score(owner(3)), before);
}

TEST_F(FairScripts, TheHeadsScoreIsTheWaitAndThoseBehindSurviveAJavaGrant) {
  ask(1);
  for (const std::uint64_t number : {2U, 3U, 4U}) ask(number);
  expect_score(2, 15'000);
  expect_score(3, 315'000);
  expect_score(4, 315'000);  // not 615 s: a queue of our own does not grow into the future
}

TEST_F(FairScripts, BehindJavaWaitersThereIsRoomForEachOfThem) {
  ask(1);
  // Two of them as Redisson's script would have put them there: 30 s of lease, 300 s of wait each.
  redis({"RPUSH", queue_key, owner(8), owner(9)});
  set_score(8, 330'000);
  set_score(9, 630'000);
  ask(2);
  expect_score(2, 15'000 + 3 * 300'000);
  ask(3);
  expect_score(3, 15'000 + 3 * 300'000);
}

TEST_F(FairScripts, OurGrantTakesNothingOffTheOthers) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) ask(number);
  release(1);
  const long long before = score(owner(4));
  EXPECT_EQ(ask(2).kind, Kind::granted);
  EXPECT_EQ(queue(), owners({3, 4}));
  EXPECT_GT(score(owner(4)), before - 5'000);
  EXPECT_EQ(score(owner(2)), 0);
}

TEST_F(FairScripts, AGrantTakesAsManyCommandsWhetherFewWaitOrMany) {
  const auto commands_of_a_grant = [&](std::uint64_t waiters) {
    redis({"FLUSHALL"});
    for (std::uint64_t number = 1; number <= waiters + 1; ++number) ask(number);
    redis({"CONFIG", "RESETSTAT"});
    release(1);
    EXPECT_EQ(ask(2).kind, Kind::granted);
    const std::string stats = redis({"INFO", "commandstats"}).text();
    long long calls = 0;
    for (std::size_t at = 0; (at = stats.find("calls=", at)) != std::string::npos; ++at) {
      calls += std::stoll(stats.substr(at + 6));
    }
    return calls;
  };
  commands_of_a_grant(1);  // from here on the server knows the scripts
  EXPECT_EQ(commands_of_a_grant(3), commands_of_a_grant(300));
}

TEST_F(FairScripts, OnlyTheNextIsTold) {
  for (const std::uint64_t number : {1U, 2U, 3U}) ask(number);
  Ear second = ear({channel_of(2)}), third = ear({channel_of(3)});
  Ear plain = ear({"redisson_lock__channel:{k}"});
  release(1);
  EXPECT_EQ(second.next(), channel_of(2) + " 0");
  EXPECT_TRUE(second.quiet());
  EXPECT_TRUE(third.quiet());
  EXPECT_TRUE(plain.quiet());
}

TEST_F(FairScripts, WhereNobodyQueuesThePlainWaitersAreTold) {
  ask(1);
  EXPECT_EQ(asker.acquire("k", LockType::REENTRANT, id(2), lease).kind, Kind::busy);
  Ear plain = ear({"redisson_lock__channel:{k}"});
  release(1);
  EXPECT_EQ(plain.next(), "redisson_lock__channel:{k} 0");
}

TEST_F(FairScripts, BusyIsNoLongerThanTheHolderOrThoseInFront) {
  ask(1);
  const auto first = ask(2).retry_after.value_or(milliseconds(0));
  EXPECT_LE(first, lease);
  EXPECT_GT(first, lease - milliseconds(5'000));
  release(1);
  const Outcome behind = ask(3);
  EXPECT_EQ(behind.kind, Kind::busy);
  EXPECT_EQ(behind.text, "");  // nobody holds it, only the queue is in the way
  EXPECT_LE(behind.retry_after.value_or(lease), queue_wait);
  EXPECT_GT(behind.retry_after.value_or(milliseconds(0)), milliseconds(5'000));
}

TEST_F(FairScripts, BehindTheHeadBusyIsAsLongAsTheHeadMayTakeToCome) {
  asker.acquire("k", fair, id(1), milliseconds(1'000));
  const auto head = ask(2).retry_after.value_or(milliseconds(0));
  EXPECT_LE(head, milliseconds(1'000));
  EXPECT_GT(ask(3).retry_after.value_or(milliseconds(0)), queue_wait - milliseconds(5'000));
}

TEST_F(FairScripts, LeaveGivesUpThePlaceAndCallsTheNextOfAFreeLock) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) ask(number);
  Ear third = ear({channel_of(3)}), fourth = ear({channel_of(4)});
  EXPECT_EQ(leave(9), Kind::gone);
  release(1);
  EXPECT_EQ(leave(4), Kind::granted);  // behind others: nobody's turn has come
  EXPECT_TRUE(third.quiet());
  EXPECT_EQ(leave(2), Kind::granted);
  EXPECT_EQ(third.next(), channel_of(3) + " 0");
  EXPECT_TRUE(fourth.quiet());
  EXPECT_EQ(leave(2), Kind::gone);
  EXPECT_EQ(queue(), owners({3}));
  EXPECT_EQ(leave(3), Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(FairScripts, LeaveOfAHeldLockTellsNobody) {
  for (const std::uint64_t number : {1U, 2U, 3U}) ask(number);
  Ear third = ear({channel_of(3)});
  EXPECT_EQ(leave(2), Kind::granted);
  EXPECT_TRUE(third.quiet());
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
}

TEST_F(FairScripts, LeaveOfAHolderIsARelease) {
  ask(1);
  ask(2);
  Ear second = ear({channel_of(2)});
  EXPECT_EQ(leave(1), Kind::granted);
  EXPECT_EQ(second.next(), channel_of(2) + " 0");
  EXPECT_EQ(ask(2).kind, Kind::granted);
}

TEST_F(FairScripts, AHeadWhoseTimeIsOverIsPassedAndTheNextIsTold) {
  for (const std::uint64_t number : {1U, 2U, 3U, 4U}) ask(number);
  release(1);
  set_score(2, -1);
  Ear third = ear({channel_of(3)});
  EXPECT_EQ(ask(4).kind, Kind::busy);
  EXPECT_EQ(third.next(), channel_of(3) + " 0");
  EXPECT_EQ(queue(), owners({3, 4}));
  EXPECT_EQ(ask(3).kind, Kind::granted);
}

TEST_F(FairScripts, AWaiterThatDiedBlocksAFreeLockForFifteenSeconds) {
  for (const std::uint64_t number : {1U, 2U, 3U}) ask(number);
  redis({"RPUSH", queue_key, owner(9)});  // Java's, which may live for minutes without asking
  set_score(9, 900'000);
  ask(4);
  leave(2);
  leave(3);
  release(1);
  expect_score(9, 15'000);  // from here on it is called, and has to come
  const Outcome outcome = ask(4);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_LE(outcome.retry_after.value_or(lease), milliseconds(15'000));
}

TEST_F(FairScripts, AFreeLockFoundBehindALongScoreIsCutToo) {
  redis({"RPUSH", queue_key, owner(9)});  // released by Java, which leaves the score alone
  set_score(9, 900'000);
  EXPECT_EQ(ask(2).kind, Kind::busy);
  expect_score(9, 15'000);
}

TEST_F(FairScripts, ReleaseByAnotherChangesNothing) {
  ask(1);
  ask(2);
  Ear second = ear({channel_of(2)});
  EXPECT_EQ(release(2), Kind::gone);
  EXPECT_EQ(release(7), Kind::gone);
  EXPECT_EQ(hash("k"), (Fields{{owner(1), "1"}}));
  EXPECT_EQ(queue(), owners({2}));
  EXPECT_TRUE(second.quiet());
}

TEST_F(FairScripts, RenewAndVerifyAreThoseOfAnyPlainLock) {
  ask(1);
  ask(2);
  EXPECT_EQ(asker.renew("k", fair, id(1), 2 * lease).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(asker.tell(Verb::verify, "k", fair, id(1)).kind, Kind::granted);
  EXPECT_EQ(asker.renew("k", fair, id(2), lease).kind, Kind::gone);
  EXPECT_EQ(asker.tell(Verb::verify, "k", fair, id(2)).kind, Kind::gone);
}

TEST_F(FairScripts, AReadOrWriteIsInTheWay) {
  for (const LockType other : {LockType::READ, LockType::WRITE}) {
    redis({"FLUSHALL"});
    asker.acquire("k", other, id(1), lease);
    EXPECT_EQ(ask(2).kind, Kind::busy);
    EXPECT_EQ(ask(1).kind, Kind::busy);
    asker.tell(Verb::release, "k", other, id(1));
    EXPECT_EQ(ask(2).kind, Kind::granted);
  }
}

}  // namespace
}  // namespace latchkey::tests
