// Times and numbers beyond those that Lua writes without an exponent, on a real server: others
// write them to say "for ever".
#include "redis/scripts/fair_fixture.hpp"
#include "support/lock_types.hpp"

namespace latchkey::tests {
namespace {

using enum LockType;

class FarTimes : public FairScripts {
 protected:
  /// The most that PEXPIRE takes.
  void live_for_ever(std::string_view key) { redis({"PEXPIRE", key, "9223370000000000000"}); }
};

// tryLock(Long.MAX_VALUE, MILLISECONDS), Java's way to wait for ever, made each FAIR acquire an
// error.
TEST_F(FarTimes, AJavaWaiterThatWaitsForEverIsAWaiterLikeOthers) {
  for (const std::string_view far : {"9.2233720368547758e+18", "1.8446744073709552e+19", "inf"}) {
    SCOPED_TRACE(far);
    redis({"FLUSHALL"});
    Subscriber java = subscribe({java_channel(1)});
    acquire(1);
    redis({"RPUSH", queue_key, java_owner(1)});
    redis({"ZADD", scores_key, far, java_owner(1)});
    const Outcome single = acquire(2, milliseconds(0));
    EXPECT_EQ(single.kind, Kind::busy) << single.reason;
    EXPECT_GT(single.retry_after.value_or(milliseconds(0)).count(), 0);
    for (const std::uint64_t number : {2U, 3U, 2U}) {
      const Outcome outcome = acquire(number);
      EXPECT_EQ(outcome.kind, Kind::busy) << outcome.reason;
    }
    EXPECT_EQ(queue(), (Names{java_owner(1), owner(2), owner(3)}));
    expect_ttl(queue_key, std::chrono::hours(365 * 24 + 1));
    EXPECT_EQ(release(1), Kind::granted);
    EXPECT_EQ(java.next(), java_channel(1) + " 0");
    EXPECT_EQ(acquire(2).kind, Kind::busy);
    expect_score(java_owner(1), 15'000);
    redis({"LPOP", queue_key});
    redis({"ZREM", scores_key, java_owner(1)});
    EXPECT_EQ(acquire(2).kind, Kind::granted);
    EXPECT_EQ(client.send(Verb::leave, "k", fair, id(3)).kind, Kind::granted);
    EXPECT_EQ(keys(), Names{"k"});
  }
}

TEST_F(FarTimes, AWaiterThatDiesBehindOneThatWaitsForEverIsDropped) {
  acquire(1);
  redis({"RPUSH", queue_key, java_owner(1)});
  redis({"ZADD", scores_key, "9.2233720368547758e+18", java_owner(1)});
  acquire(2);
  acquire(3);
  redis({"LPOP", queue_key});
  redis({"ZREM", scores_key, java_owner(1)});
  release(1);
  pass(milliseconds(20'000));
  EXPECT_EQ(acquire(3).kind, Kind::granted);
  EXPECT_EQ(queue(), Names{});
}

TEST_F(FarTimes, AHoldOfAKeyThatLivesForEverIsRenewedAndReleased) {
  for (const LockType type : all_types) {
    SCOPED_TRACE(to_string(type));
    client.acquire("k", type, id(1), lease, queue_wait);
    live_for_ever("k");
    if (type == READ) live_for_ever(timeout_key("{k}", 1));
    const Outcome again = client.acquire("k", type, id(1), lease, queue_wait);
    EXPECT_EQ(again.kind, Kind::granted) << again.reason;
    EXPECT_EQ(client.renew("k", type, id(1), lease).kind, Kind::granted);
    EXPECT_EQ(client.send(Verb::verify, "k", type, id(1)).kind, Kind::granted);
    Request check = ScriptClient::make_request(Verb::renew, "k", type, id(1), lease);
    const Request* const one = &check;
    EXPECT_EQ(client.check(std::span(&one, 1)).of(0), detail::redis::CheckAnswers::Answer::held);
    if (type == WRITE) {
      EXPECT_EQ(client.downgrade("k", id(1), lease).kind, Kind::granted);
      EXPECT_EQ(client.send(Verb::release, "k", READ, id(1)).kind, Kind::granted);
    } else {
      EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
    }
    redis({"DEL", "k"});
  }
}

TEST_F(FarTimes, AWaiterIsToldAHundredYearsOfAKeyThatLivesForEver) {
  for (const LockType type : {REENTRANT, FENCED, READ, WRITE}) {
    client.acquire("k", WRITE, id(1), lease);
    live_for_ever("k");
    const Outcome outcome = client.acquire("k", type, id(2), lease);
    EXPECT_EQ(outcome.kind, Kind::busy);
    EXPECT_EQ(outcome.retry_after, milliseconds(std::chrono::years(100)));
    EXPECT_EQ(client.inspect("k").holders.at(0).left, milliseconds(std::chrono::years(100)));
  }
}

TEST_F(FarTimes, ATokenThatIsNoNumberIsRefused) {
  for (const std::string_view text : {"nan", "inf", "9223372036854775807"}) {
    redis({"SET", "redisson_lock_token:{k}", text});
    EXPECT_EQ(client.acquire("k", FENCED, id(1), lease).kind, Kind::refused) << text;
    EXPECT_EQ(redis({"EXISTS", "k"}).integer(), 0);
  }
}

// The count that was returned was negative, and so the latch seemed to be open.
TEST_F(FarTimes, ALatchWithTheLargestCountIsNotOpen) {
  Request request = ScriptClient::make_request(Verb::latch_count, "latch");
  redis({"SET", "latch", "9223372036854775807"});
  EXPECT_GT(client.send(request).token, 0U);
  request.verb = Verb::latch_down;
  EXPECT_GT(client.send(request).token, 0U);
  EXPECT_EQ(redis({"GET", "latch"}).text(), "9223372036854775806");
}

}  // namespace
}  // namespace latchkey::tests
