// Listeners of channels, and the commands that subscribe to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/session/channel_subscriptions.hpp"
#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::string_view plain_channel = "redisson_lock__channel:{k}";
constexpr std::string_view rw_channel = "redisson_rwlock:{k}";

class ChannelSubscriptionsTest : public ::testing::Test {
 protected:
  static Request subscribe(std::string_view key, LockType type = LockType::REENTRANT) {
    Request request;
    request.verb = Verb::subscribe;
    request.key = key;
    request.type = type;
    request.id = {{1, 2}, 3};
    return request;
  }
  static std::vector<Command> commands(const CommandBuffer& buffer) {
    testing::CommandParser parser;
    parser.feed(buffer.bytes());
    return parser.all();
  }

  RecordingSink sink, other;
  ChannelSubscriptions subscriptions;
};

TEST_F(ChannelSubscriptionsTest, AKeyListensToTwoChannelsOnce) {
  subscriptions.add(subscribe("k"), sink);
  subscriptions.add(subscribe("k"), sink);
  EXPECT_THAT(subscriptions.names(), UnorderedElementsAre(plain_channel, rw_channel));
  ASSERT_NE(subscriptions.listeners(plain_channel), nullptr);
  EXPECT_EQ(subscriptions.listeners(plain_channel)->size(), 1U);
}

TEST_F(ChannelSubscriptionsTest, OnlyAFairLockNamesTheWaiter) {
  subscriptions.add(subscribe("k"), sink);
  EXPECT_EQ(subscriptions.listeners(plain_channel)->front().id, HoldId{});
  subscriptions.add(subscribe("k", LockType::FAIR), sink);
  EXPECT_EQ(subscriptions.listeners(plain_channel)->back().id, (HoldId{{1, 2}, 3}));
}

TEST_F(ChannelSubscriptionsTest, AChannelEndsWithItsLastListener) {
  Request request = subscribe("k");
  subscriptions.add(request, sink);
  subscriptions.add(request, other);
  subscriptions.remove(request, sink);
  EXPECT_NE(subscriptions.listeners(plain_channel), nullptr);
  request.verb = Verb::unsubscribe;
  CommandBuffer buffer;
  subscriptions.append_change(buffer, request.verb, channels_of(request));
  EXPECT_THAT(commands(buffer), ElementsAre(ElementsAre("PING"))) << "the other one listens";
  subscriptions.remove(request, other);
  EXPECT_TRUE(subscriptions.empty());
  CommandBuffer last;
  subscriptions.append_change(last, request.verb, channels_of(request));
  EXPECT_THAT(commands(last), ElementsAre(ElementsAre("UNSUBSCRIBE", plain_channel, rw_channel),
                                          ElementsAre("PING")));
}

TEST_F(ChannelSubscriptionsTest, ShardedChannelsHaveCommandsOfTheirOwn) {
  subscriptions.use_sharded_channels(true);
  CommandBuffer buffer;
  subscriptions.append_one(buffer, Verb::subscribe, plain_channel);
  EXPECT_THAT(commands(buffer),
              ElementsAre(ElementsAre("SSUBSCRIBE", plain_channel), ElementsAre("PING")));
}

TEST_F(ChannelSubscriptionsTest, ChannelsMoveToAnotherSessionWithTheirListeners) {
  subscriptions.add(subscribe("k"), sink);
  auto moved = subscriptions.extract([](std::string_view name) { return name == rw_channel; });
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(subscriptions.listeners(rw_channel), nullptr);
  ChannelSubscriptions target;
  target.add(std::move(moved[0]));
  ASSERT_NE(target.listeners(rw_channel), nullptr);
  EXPECT_EQ(target.listeners(rw_channel)->front().sink, &sink);
}

TEST_F(ChannelSubscriptionsTest, RejectedChannelsAreRetriedTogetherAndOnce) {
  const Clock::time_point now{1'000s};
  EXPECT_EQ(subscriptions.retries_at(), Clock::never());
  subscriptions.retry("a", now + 100ms);
  subscriptions.retry("b", now + 200ms);
  subscriptions.retry("a", now + 300ms);
  EXPECT_EQ(subscriptions.retries_at(), now + 300ms);
  EXPECT_THAT(subscriptions.take_retries(), ElementsAre("a", "b"));
  EXPECT_THAT(subscriptions.take_retries(), IsEmpty());
  EXPECT_EQ(subscriptions.retries_at(), Clock::never());
}

}  // namespace
}  // namespace latchkey::detail::redis
