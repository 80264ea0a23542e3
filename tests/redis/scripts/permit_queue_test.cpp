// The queue of processes that wait for permits of a semaphore, on a real server.
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/owner_format.hpp"
#include "redis/scripts/permits_fixture.hpp"

namespace latchkey::tests {
namespace {

class PermitQueueScripts : public PermitsTest {
 protected:
  static constexpr std::string_view queue = "latchkey_permit_queue:{k}",
                                    ends = "latchkey_permit_queue:{k}:places";

  static Request waiting(std::uint64_t number, std::uint32_t permits = 1) {
    Request made = request(Verb::acquire, number, permits);
    made.queues = true;
    return made;
  }
  Outcome wait(std::uint64_t number, std::uint32_t permits = 1) {
    return client.send(waiting(number, permits));
  }
  Kind release(std::uint64_t number, std::uint32_t permits = 1) {
    return send(Verb::release, number, permits);
  }
  long long places() { return redis({"ZCARD", queue}).integer(); }
  /// The process of the first place has not tried again for 3 s.
  void end_place_of(std::uint64_t number) {
    redis({"HSET", ends, detail::redis::PermitId(id(number)), "1 1"});
  }
  void end_first_place(long long end = 1) {
    const std::string first = redis({"ZRANGE", queue, "0", "0"}).list().at(0);
    redis({"HSET", ends, first, "1 " + std::to_string(end)});
  }
};

TEST_F(PermitQueueScripts, WhoWaitsLongerIsFirst) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(wait(2).place, 1U);
  EXPECT_EQ(wait(3).place, 1U);
  EXPECT_EQ(wait(2).place, 1U) << "it tries again, and keeps its place";
  EXPECT_EQ(places(), 2);
  ASSERT_EQ(release(1, 3), Kind::granted);
  ASSERT_EQ(acquire(4, 2).kind, Kind::busy) << "two of three are for those who wait";
  EXPECT_EQ(acquire(5).kind, Kind::granted) << "the third is not";
  EXPECT_EQ(acquire(6).kind, Kind::busy) << "the other two are";
  EXPECT_EQ(wait(2).kind, Kind::granted);
  EXPECT_EQ(acquire(6).kind, Kind::busy);
  EXPECT_EQ(wait(3).kind, Kind::granted);
}

TEST_F(PermitQueueScripts, ThoseBehindAreGrantedWhatTheFirstLeave) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(wait(2).kind, Kind::busy);
  EXPECT_EQ(wait(3).kind, Kind::busy);
  ASSERT_EQ(release(1, 3), Kind::granted);
  EXPECT_EQ(wait(3).kind, Kind::granted) << "there is one for the first as well";
  EXPECT_EQ(wait(2).kind, Kind::granted);
  EXPECT_EQ(places(), 0);
}

TEST_F(PermitQueueScripts, ACallForManyIsNotOvertakenByCallsForOne) {
  ASSERT_EQ(acquire(1).kind, Kind::granted);
  EXPECT_EQ(wait(2, 3).kind, Kind::busy);
  EXPECT_EQ(wait(3).kind, Kind::busy);
  EXPECT_EQ(acquire(4).kind, Kind::busy) << "a single attempt, which has no place";
  EXPECT_EQ(places(), 2);
  ASSERT_EQ(release(1), Kind::granted);
  EXPECT_EQ(wait(2, 3).kind, Kind::granted);
}

TEST_F(PermitQueueScripts, WhoWaitsBehindOneThatDoesNotNeedAllIsToldOfTheRest) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(wait(2, 2).kind, Kind::busy);
  EXPECT_EQ(wait(3, 2).kind, Kind::busy);
  EXPECT_EQ(wait(4).kind, Kind::busy);
  ASSERT_EQ(release(1, 3), Kind::granted);
  Subscriber subscriber = subscribe({std::string(channel)});
  EXPECT_EQ(wait(2, 2).permits_left, 1U);
  EXPECT_EQ(subscriber.next(), std::string(channel) + " 1");
  Request leaves = request(Verb::leave, 3, 2);
  leaves.queues = true;
  static_cast<void>(client.send(leaves));
  EXPECT_EQ(subscriber.next(), std::string(channel) + " 1") << "the second gave up";
  EXPECT_EQ(wait(4).kind, Kind::granted);
  EXPECT_EQ(places(), 0);
}

TEST_F(PermitQueueScripts, TheOthersKnowWhenThePlaceOfASilentProcessEnds) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(wait(2).kind, Kind::busy);
  ASSERT_EQ(release(1, 3), Kind::granted);
  ASSERT_EQ(acquire(1, 2).kind, Kind::granted);
  const Outcome behind = wait(3);
  ASSERT_EQ(behind.kind, Kind::busy);
  EXPECT_LE(behind.retry_after.value_or(milliseconds::max()), milliseconds(3'000));
  expect_ttl(queue, milliseconds(3'000));
  expect_ttl(ends, milliseconds(3'000));
  end_first_place();
  EXPECT_EQ(wait(3).kind, Kind::granted);
  EXPECT_EQ(places(), 0);
}

TEST_F(PermitQueueScripts, AClockThatWasSetBackKeepsNoPlaceOfASilentProcess) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(wait(2).kind, Kind::busy);
  end_first_place(now_ms() + 3'600'000);
  EXPECT_EQ(wait(3).kind, Kind::busy);
  ASSERT_EQ(release(1, 3), Kind::granted);
  ASSERT_EQ(acquire(4, 2).kind, Kind::granted);
  EXPECT_EQ(wait(3).kind, Kind::granted);
}

TEST_F(PermitQueueScripts, ThoseWhoCameAfterManyOthersAreInOrderToo) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  for (std::uint64_t number = 2; number < 50; ++number) {
    EXPECT_EQ(wait(number).kind, Kind::busy);
  }
  for (std::uint64_t number = 2; number < 40; ++number) end_place_of(number);
  ASSERT_EQ(release(1, 3), Kind::granted);
  EXPECT_EQ(wait(43).kind, Kind::busy) << "three are in front of it";
  EXPECT_EQ(wait(42).kind, Kind::granted) << "two are";
  EXPECT_EQ(places(), 9);
}

TEST_F(PermitQueueScripts, APlaceThatHasEndedIsNotInTheWay) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  for (const std::uint64_t number : {2U, 3U, 4U}) EXPECT_EQ(wait(number).kind, Kind::busy);
  end_first_place();
  ASSERT_EQ(release(1, 3), Kind::granted);
  ASSERT_EQ(acquire(1, 2).kind, Kind::busy) << "two of three are for those who wait";
  EXPECT_EQ(places(), 2) << "the one that has ended was dropped";
  ASSERT_EQ(acquire(1).kind, Kind::granted);
  EXPECT_EQ(wait(2).kind, Kind::busy) << "it comes back, and is the last now";
  EXPECT_EQ(wait(4).kind, Kind::granted);
}

TEST_F(PermitQueueScripts, AReleaseTakesAwayThePlaceOfALateCopyOfItsAcquire) {
  ASSERT_EQ(acquire(1, 2).kind, Kind::granted);
  ASSERT_EQ(release(1, 2), Kind::granted);
  ASSERT_EQ(acquire(2, 3).kind, Kind::granted);
  EXPECT_EQ(wait(1, 2).kind, Kind::busy);  // the copy
  EXPECT_EQ(release(1, 2), Kind::gone);
  EXPECT_EQ(places(), 0);
}

TEST_F(PermitQueueScripts, NobodyWaitsForMoreThanThereAre) {
  ASSERT_EQ(acquire(1).kind, Kind::granted);
  EXPECT_EQ(wait(2, 4).kind, Kind::refused);
  EXPECT_EQ(places(), 0);
}

TEST_F(PermitQueueScripts, NothingIsLeftOfTheQueueOfADestroyedSemaphore) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(wait(2).kind, Kind::busy);
  EXPECT_EQ(send(Verb::force_release, 0), Kind::granted);
  EXPECT_EQ(keys(), std::vector<std::string>());
}

// Without a permission for its commands there is no queue, and whoever asks first is granted.
TEST_F(PermitQueueScripts, WithoutItsCommandsNobodyIsFirst) {
  for (const std::string command : {"hget", "hset", "hdel", "pexpire"}) {
    SCOPED_TRACE(command);
    redis({"FLUSHALL"});
    ScriptClient user = as_user({"~*", server.all_channels(), "+@all", "-" + command});
    ASSERT_EQ(user.send(request(Verb::acquire, 1, 3)).kind, Kind::granted);
    EXPECT_EQ(user.send(waiting(2)).kind, Kind::busy);
    EXPECT_EQ(user.send(waiting(2)).kind, Kind::busy);
    Request leaves = request(Verb::leave, 2);
    leaves.queues = true;
    static_cast<void>(user.send(leaves));
    EXPECT_EQ(user.send(request(Verb::release, 1, 3)).kind, Kind::granted);
    EXPECT_EQ(user.send(request(Verb::acquire, 3, 3)).kind, Kind::granted);
    EXPECT_EQ(places(), 0);
  }
}

// An acquire that found others waiting dropped all of them in one script, while the server did
// nothing else.
TEST_F(PermitQueueScripts, EndedPermitsAreDroppedInSlicesAlthoughOthersWait) {
  ASSERT_EQ(acquire(1, 3).kind, Kind::granted);
  EXPECT_EQ(wait(2).place, 1U);
  redis({"EVAL", "for n = 1, 5000 do redis.call('ZADD', KEYS[1], n, 'java permit ' .. n) end", "1",
         taken});
  EXPECT_EQ(acquire(3).kind, Kind::granted);
  EXPECT_EQ(members(), 3 + 4'000 + 1);
  redis({"SET", key, "-2000"});
  const Outcome busy = acquire(4);
  EXPECT_EQ(busy.kind, Kind::busy);
  EXPECT_EQ(busy.retry_after, milliseconds(1)) << "the next slice may be enough";
  EXPECT_EQ(members(), 3 + 3'000 + 1);
}

}  // namespace
}  // namespace latchkey::tests
