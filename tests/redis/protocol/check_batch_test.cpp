// Several checks as one call, and the answers of its reply.
#include "redis/protocol/check_batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/reply_reader.hpp"
#include "redis/protocol/scripts.hpp"
#include "redis/session/command_parser.hpp"
#include "support/allocations.hpp"

namespace latchkey::detail::redis {
namespace {

using Answer = CheckAnswers::Answer;

Request check(Verb verb, std::string_view key, LockType type, int lease) {
  Request request;
  request.verb = verb;
  request.type = type;
  request.key = key;
  request.id = {{0x6ad76760e86c4273, 0xa5a4ad3e58e61a2b}, 7};
  request.lease = std::chrono::milliseconds(lease);
  return request;
}

TEST(CheckBatch, HasTheKeysAndTheArgumentsOfEachCheck) {
  const Request plain = check(Verb::renew, "k", LockType::FENCED, 30'000);
  const Request write = check(Verb::verify, "w", LockType::WRITE, 0);
  const Request read = check(Verb::renew, "{a}b", LockType::READ, 5'000);
  const Request fair = check(Verb::verify, "f", LockType::READ, 0);
  const Request* const all[] = {&plain, &write, &read, &fair};
  const std::string owner = "6ad76760-e86c-4273-a5a4-ad3e58e61a2b:7";
  for (const bool with_text : {false, true}) {
    CommandBuffer buffer;
    append_check_batch(buffer, all, with_text);
    latchkey::testing::CommandParser parser;
    parser.feed(buffer.bytes());
    const std::string script(with_text ? scripts::check_batch.text : scripts::check_batch.sha1);
    const latchkey::testing::Command expected{with_text ? "EVAL" : "EVALSHA",
                                              script,
                                              "6",
                                              "k",
                                              "w",
                                              "{a}b",
                                              "{a}b:" + owner + ":rwlock_timeout:1",
                                              "f",
                                              "{f}:" + owner + ":rwlock_timeout:1",
                                              "renew",
                                              "30000",
                                              owner,
                                              "verify",
                                              "0",
                                              owner + ":write",
                                              "renew_read",
                                              "5000",
                                              owner,
                                              "verify_read",
                                              "0",
                                              owner};
    EXPECT_EQ(parser.next(), expected);
    EXPECT_FALSE(parser.malformed());
  }
}

TEST(CheckBatch, WarmBufferAllocatesNothing) {
  const Request read = check(Verb::renew, std::string_view("some/key"), LockType::READ, 30'000);
  const std::vector<const Request*> all(CheckAnswers::most, &read);
  CommandBuffer buffer;
  append_check_batch(buffer, all, false);
  buffer.clear();
  const std::size_t before = tests::allocations();
  append_check_batch(buffer, all, false);
  EXPECT_EQ(tests::allocations(), before);
}

std::vector<Answer> answers_to(std::string_view bytes, std::size_t count) {
  ReplyReader reader;
  reader.reset();
  EXPECT_TRUE(reader.feed(bytes));
  const CheckAnswers answers = read_check_answers(*reader.next());
  std::vector<Answer> all;
  for (std::size_t index = 0; index < count; ++index) all.push_back(answers.of(index));
  return all;
}

TEST(CheckBatch, EachHoldHasItsOwnAnswer) {
  using enum Answer;
  EXPECT_EQ(answers_to("*4\r\n:0\r\n_\r\n:1\r\n:0\r\n", 4),
            (std::vector{held, gone, unclear, held}));
  EXPECT_EQ(answers_to("*2\r\n-ERR no\r\n:0\r\n", 3), (std::vector{unclear, held, unclear}))
      << "an error, and a reply that is too short";
  EXPECT_EQ(answers_to("-LOADING\r\n", 2), (std::vector{unclear, unclear}));
  EXPECT_EQ(answers_to(":0\r\n", 2), (std::vector{unclear, unclear}));
  EXPECT_EQ(answers_to("_\r\n", 1), (std::vector{unclear}));
}

TEST(CheckBatch, AnswersBeyondTheLongestBatchAreDropped) {
  CheckAnswers answers;
  for (std::size_t index = 0; index < CheckAnswers::most; ++index) answers.add(Answer::held);
  answers.add(Answer::gone);
  EXPECT_EQ(answers.of(CheckAnswers::most - 1), Answer::held);
  EXPECT_EQ(answers.of(CheckAnswers::most), Answer::unclear);
}

}  // namespace
}  // namespace latchkey::detail::redis
