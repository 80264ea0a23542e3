// Requests that no node of a cluster can serve now.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <vector>

#include "redis/routing/cluster_router.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;
using Delayed = DelayedRequests::Delayed;

class DelayedRequestsTest : public ::testing::Test {
 protected:
  Request& make(Verb verb, std::uint64_t number) {
    Request& request = requests.emplace_back();
    request.verb = verb;
    request.id = {{1, 2}, number};
    return request;
  }
  void add(Request& request) {
    delayed.add({&request, nullptr, submitted_at + 2s, 0}, submitted_at, now, "no node");
  }
  std::vector<Request*> take() {
    std::vector<Request*> taken;
    delayed.take_due(now, [&](Delayed& each) { taken.push_back(each.request.request); });
    return taken;
  }

  std::deque<Request> requests;
  const Clock::time_point submitted_at{1'000s};
  Clock::time_point now = submitted_at;
  DelayedRequests delayed;
};

// Each hold was sent again every 20 ms while its node was down.
TEST_F(DelayedRequestsTest, PausesGrowWithTheAgeOfTheRequest) {
  Request& renewal = make(Verb::renew, 1);
  std::vector<std::chrono::milliseconds> pauses;
  while (now < submitted_at + 2s) {
    add(renewal);
    pauses.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(delayed.due() - now));
    now = delayed.due();
    ASSERT_EQ(take(), std::vector{&renewal});
  }
  const std::vector<std::chrono::milliseconds> expected{20ms,  20ms,  40ms,  80ms,  160ms, 250ms,
                                                        250ms, 250ms, 250ms, 250ms, 250ms, 180ms};
  EXPECT_EQ(pauses, expected);
  EXPECT_EQ(delayed.due(), Clock::never());
}

TEST_F(DelayedRequestsTest, AllAreDueWhenTheOwnersOfSlotsChange) {
  now = submitted_at + 1s;
  Request& renewal = make(Verb::renew, 1);
  add(renewal);
  EXPECT_TRUE(take().empty());
  delayed.retry_all(now);
  EXPECT_EQ(take(), std::vector{&renewal});
}

TEST_F(DelayedRequestsTest, AnAcquireIsTakenBeforeItsReleaseAndDroppedByIt) {
  Request& acquire = make(Verb::acquire, 1);
  Request& other = make(Verb::acquire, 2);
  Request& release = make(Verb::release, 1);
  add(acquire);
  add(other);
  add(release);
  now += 20ms;
  EXPECT_EQ(take(), (std::vector{&acquire, &other, &release}));
  add(acquire);
  add(other);
  std::vector<Request*> dropped;
  delayed.drop_acquires([&](const Request& each) { return each.id == release.id; },
                        [&](Delayed& each) { dropped.push_back(each.request.request); });
  EXPECT_EQ(dropped, std::vector{&acquire});
  EXPECT_EQ(delayed.size(), 1U);
}

TEST_F(DelayedRequestsTest, WhatIsAddedDuringAVisitWaitsForItsOwnTime) {
  for (std::uint64_t number = 1; number <= 3; ++number) add(make(Verb::renew, number));
  now += 20ms;
  std::size_t visits = 0;
  delayed.take_due(now, [&](Delayed& each) {
    ++visits;
    add(*each.request.request);
  });
  EXPECT_EQ(visits, 3U);
  EXPECT_EQ(delayed.size(), 3U);
  EXPECT_EQ(delayed.due(), now + 20ms);
}

}  // namespace
}  // namespace latchkey::detail::redis
