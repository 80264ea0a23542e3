// Completions: order, stealing, threads that end, dropped and reused outcomes.
#include "memory/completions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::detail {
namespace {

struct Order final : Sink {
  void completed(Request& request, Outcome&&) noexcept override {
    seen.push_back(request.id.number);
    if (then != nullptr) std::exchange(then, nullptr)->operator()();
  }
  void notified(const Notification&) noexcept override {}
  std::vector<std::uint64_t> seen;
  std::function<void()>* then = nullptr;
};

class CompletionsTest : public ::testing::Test {
 protected:
  void push(std::vector<std::uint64_t> numbers) {
    Completions::Batch batch(numbers.size());
    Completion* each = batch.first();
    for (const std::uint64_t number : numbers) {
      Request& request = requests[number];
      request.id.number = number;
      each->request = &request;
      each->sink = &sink;
      each = each->next;
    }
    EXPECT_EQ(each, nullptr);
    completions.push(batch);
  }

  Completions completions;
  Order sink;
  std::array<Request, 10> requests;
};

TEST_F(CompletionsTest, AreDeliveredInTheOrderOfSubmission) {
  push({1, 2, 3});
  push({4});
  push({5, 6});
  EXPECT_TRUE(completions.any());
  EXPECT_TRUE(completions.deliver_mine());
  EXPECT_EQ(sink.seen, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(completions.any());
  EXPECT_FALSE(completions.deliver_mine());
}

TEST_F(CompletionsTest, SubmittedByASinkAreDeliveredBeforeItsThreadReturns) {
  std::function<void()> more = [&] { push({7}); };
  sink.then = &more;
  push({1, 2});
  EXPECT_TRUE(completions.deliver_mine());
  EXPECT_EQ(sink.seen, (std::vector<std::uint64_t>{1, 2, 7}));
}

TEST_F(CompletionsTest, OfAnEndedThreadAreDeliveredByAnother) {
  std::thread([&] { push({3}); }).join();
  EXPECT_TRUE(completions.deliver_mine() || completions.deliver_others());
  EXPECT_EQ(sink.seen, (std::vector<std::uint64_t>{3}));
}

TEST_F(CompletionsTest, MayBeDropped) {
  push({1, 2});
  completions.drop_all();
  EXPECT_FALSE(completions.deliver_mine());
  EXPECT_TRUE(sink.seen.empty());
  const Completions::Batch unused(5);  // goes back by itself
}

TEST_F(CompletionsTest, AnOutcomeHasNothingOfAnEarlierOne) {
  {
    Completions::Batch batch(1);
    batch.first()->request = &requests[1];
    batch.first()->sink = &sink;
    Outcome& outcome = batch.first()->outcome;
    outcome.kind = Outcome::Kind::busy;
    outcome.place = 7;
    outcome.near_front = outcome.holder_is_foreign = outcome.never_ran = true;
    outcome.permits_left = 3;
    outcome.holder = "a holder";
    completions.push(batch);
  }
  ASSERT_TRUE(completions.deliver_mine());
  const Completions::Batch next(1);
  const Outcome& outcome = next.first()->outcome;
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_EQ(outcome.place, 0U);
  EXPECT_FALSE(outcome.near_front);
  EXPECT_FALSE(outcome.holder_is_foreign);
  EXPECT_FALSE(outcome.permits_left.has_value());
  EXPECT_FALSE(outcome.never_ran);
  EXPECT_EQ(outcome.holder, "");
}

}  // namespace
}  // namespace latchkey::detail
