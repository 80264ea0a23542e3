// The order of commands, their bytes and their deadlines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "redis/session/command_pipeline.hpp"
#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lane = CommandPipeline::Lane;
using ReplyFor = CommandPipeline::ReplyFor;

class CommandPipelineTest : public ::testing::Test {
 protected:
  Request& push(Verb verb, std::uint64_t number = 1, Clock::duration timeout = 2s) {
    Request& request = requests.emplace_back();
    request.verb = verb;
    request.id = {{1, 2}, number};
    pipeline.push().start(request, sink, now + timeout);
    return request;
  }
  /// Writes `bytes` as a bulk string for each command.
  void write(std::string_view bytes = "0123456789") {
    while (InFlightCommand* const command = pipeline.next_to_write()) {
      pipeline.stream().word(bytes);
      command->end = pipeline.stream_end();
      pipeline.mark_written();
    }
  }
  void send(std::size_t most = 1'000'000) {
    const std::size_t size = pipeline.to_send(Lane::commands).size();
    pipeline.sent(std::min(size, most));
  }
  std::vector<const Request*> drop_sent() {
    std::vector<const Request*> dropped;
    pipeline.discard_bytes();
    pipeline.drop_sent([&](InFlightCommand& command) {
      dropped.push_back(std::exchange(command.request, nullptr));
    });
    return dropped;
  }

  RecordingSink sink;
  std::deque<Request> requests;
  Clock::time_point now{1'000s};
  CommandPipeline pipeline;
};

TEST_F(CommandPipelineTest, BytesOfTheHandshakeAreNoPartOfTheStream) {
  pipeline.handshake().word("HELLO");
  EXPECT_TRUE(pipeline.anything_to_send(Lane::handshake));
  EXPECT_FALSE(pipeline.anything_to_send(Lane::commands));
  EXPECT_FALSE(pipeline.anything_to_send(Lane::closed));
  pipeline.sent(pipeline.to_send(Lane::handshake).size());
  EXPECT_EQ(pipeline.stream_end(), 0U);
  push(Verb::acquire);
  write();
  const std::uint64_t end = pipeline.stream_end();
  EXPECT_EQ(end, pipeline.unsent_bytes(false));
  send();
  EXPECT_EQ(pipeline.stream_end(), end);
}

TEST_F(CommandPipelineTest, TheServerIsBusyOnceACommandWasSentWhole) {
  push(Verb::acquire);
  write();
  const std::size_t size = pipeline.unsent_bytes(false);
  send(size - 1);
  EXPECT_FALSE(pipeline.is_server_busy());
  send();
  EXPECT_TRUE(pipeline.is_server_busy());
  EXPECT_EQ(pipeline.server_backlog(), 0U);
  push(Verb::acquire, 2);
  write();
  send();
  EXPECT_EQ(pipeline.server_backlog(), size);
}

TEST_F(CommandPipelineTest, ARequestWhoseLastByteWasSentIsDroppedWithTheConnection) {
  const Request& whole = push(Verb::acquire, 1);
  push(Verb::acquire, 2);
  write();
  send(pipeline.unsent_bytes(false) - 1);
  EXPECT_THAT(drop_sent(), ElementsAre(&whole));
  EXPECT_EQ(pipeline.size(), 1U);
  EXPECT_NE(pipeline.next_to_write(), nullptr) << "the other one is written again";
}

TEST_F(CommandPipelineTest, RepliesToAskingAndToNotesCompleteNoRequest) {
  push(Verb::acquire);
  push(Verb::acquire, 2);
  write();
  pipeline.front().replies_before = 1;
  pipeline.front().replies_after = 1;
  EXPECT_EQ(pipeline.match_reply(), ReplyFor::nobody);
  EXPECT_EQ(pipeline.match_reply(), ReplyFor::front);
  pipeline.pop();
  EXPECT_EQ(pipeline.match_reply(), ReplyFor::nobody);
  EXPECT_EQ(pipeline.match_reply(), ReplyFor::front);
  pipeline.pop();
  EXPECT_EQ(pipeline.match_reply(), ReplyFor::unexpected);
}

TEST_F(CommandPipelineTest, AnOverdueRequestEndsAndItsCommandStays) {
  push(Verb::acquire, 1, 1s);
  const Request& later = push(Verb::acquire, 2, 3s);
  write();
  std::vector<const Request*> ended;
  const auto end = [&](InFlightCommand& command) {
    ended.push_back(std::exchange(command.request, nullptr));
  };
  EXPECT_EQ(pipeline.next_expiry(true), now + 1s);
  pipeline.expire_written(now + 2s, end);
  EXPECT_EQ(ended.size(), 1U);
  EXPECT_EQ(pipeline.size(), 2U);
  EXPECT_EQ(pipeline.next_expiry(true), now + 3s);
  pipeline.expire_written(now + 3s, end);
  EXPECT_EQ(ended.back(), &later);
  EXPECT_FALSE(pipeline.has_live_requests());
}

TEST_F(CommandPipelineTest, WaitingRequestsEndInTheOrderOfTheirDeadlines) {
  push(Verb::renew, 1, 3s);
  push(Verb::acquire, 2, 1s);
  pipeline.expect_expiry(now + 1s);
  std::vector<std::uint64_t> ended;
  const auto expire = [&](Clock::time_point at) {
    pipeline.expire_waiting(
        at, [](const InFlightCommand& command) { return command.deadline; },
        [&](InFlightCommand& command) {
          ended.push_back(std::exchange(command.request, nullptr)->id.number);
        });
  };
  expire(now + 500ms);
  EXPECT_THAT(ended, IsEmpty());
  expire(now + 1s);
  EXPECT_THAT(ended, ElementsAre(2U));
  EXPECT_EQ(pipeline.next_expiry(false), now + 3s);
  expire(now + 3s);
  EXPECT_THAT(ended, ElementsAre(2U, 1U));
}

TEST_F(CommandPipelineTest, AnAcquireIsOvertakenByTheReleaseOfItsHoldOnly) {
  push(Verb::acquire, 1);
  push(Verb::release, 2);
  EXPECT_FALSE(pipeline.front_is_overtaken());
  push(Verb::leave, 1);
  EXPECT_TRUE(pipeline.front_is_overtaken());
}

TEST_F(CommandPipelineTest, AReleaseThatIsQueuedLaterIsFoundToo) {
  push(Verb::acquire, 1);
  push(Verb::acquire, 2);
  EXPECT_FALSE(pipeline.front_is_overtaken());
  pipeline.requeue_front(InFlightCommand::Kind::script_text, 0);
  push(Verb::release, 2);
  EXPECT_TRUE(pipeline.front_is_overtaken());
}

// A server that had lost its scripts rejected all commands under way, and each acquire looked at
// all commands after it: seconds with the mutex held if there were some ten thousand of them.
TEST_F(CommandPipelineTest, RejectedAcquiresTakeTimeInProportionToTheirNumber) {
  constexpr std::uint64_t commands = 30'000;
  for (std::uint64_t number = 1; number <= commands; ++number) push(Verb::acquire, number);
  const std::clock_t begin = std::clock();
  for (std::uint64_t number = 1; number <= commands; ++number) {
    ASSERT_FALSE(pipeline.front_is_overtaken());
    pipeline.requeue_front(InFlightCommand::Kind::script_text, 0);
  }
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC) << "of processor time";
}

TEST_F(CommandPipelineTest, ARequeuedCommandKeepsItsRequestAndGoesToTheEnd) {
  Request& first = push(Verb::list, 1);
  push(Verb::acquire, 2);
  write();
  pipeline.front().hops = 3;
  pipeline.requeue_front(InFlightCommand::Kind::script, 17);
  EXPECT_EQ(pipeline.front().id.number, 2U);
  const InFlightCommand* const last = pipeline.next_to_write();
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->request, &first);
  EXPECT_EQ(last->cursor, 17U);
  EXPECT_EQ(last->hops, 3);
}

TEST_F(CommandPipelineTest, UnsentRequestsAreTakenOutInTheirOrder) {
  const Request& first = push(Verb::acquire, 1);
  push(Verb::renew, 2);
  const Request& third = push(Verb::acquire, 3);
  const auto taken =
      pipeline.take_unsent([](const Request& request) { return request.verb == Verb::acquire; });
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].request, &first);
  EXPECT_EQ(taken[1].request, &third);
  EXPECT_EQ(pipeline.size(), 1U);
}

}  // namespace
}  // namespace latchkey::detail::redis
