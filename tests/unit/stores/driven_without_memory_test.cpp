// The driver of a store's client that lacks memory.
#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "stores/driver/driven_backend.hpp"
#include "unit/stores/loopback_client.hpp"

namespace latchkey::detail::stores {
namespace {

struct Receiver final : Sink {
  void completed(Request& /*request*/, Outcome&& outcome) noexcept override {
    last = outcome;
    ++outcomes;
  }
  void notified(const Notification& notification) noexcept override {
    if (notification.kind == Notification::Kind::link_down) ++downs;
  }
  Outcome last;
  int outcomes = 0, downs = 0;
};

class DriverWithoutMemory : public ::testing::Test {
 protected:
  static Request acquire_of(std::string_view key) {
    Request request;
    request.key = key;
    request.id = {HoldId::new_space(), 1};
    request.lease = std::chrono::seconds(30);
    return request;
  }
  void submit(Request& request) {
    Request* const one[] = {&request};
    backend.submit(one, sink);
  }
  void drive_until(int outcomes) {
    while (sink.outcomes < outcomes) {
      backend.drive(Parker::mine(), later(Clock::system().now(), std::chrono::seconds(1)));
    }
  }

  std::unique_ptr<tests::LoopbackClient> made =
      std::make_unique<tests::LoopbackClient>("", Options{});
  tests::LoopbackClient& client = *made;
  DrivenBackend backend{std::move(made), Options{}};
  Receiver sink;
};

TEST_F(DriverWithoutMemory, ASubmitThatThrowsLeavesNothingUnderWay) {
  client.lacks_memory_to_submit = true;
  Request request = acquire_of("a");
  EXPECT_THROW(submit(request), std::bad_alloc);
  EXPECT_EQ(client.started_over, 0);
  EXPECT_EQ(client.outbox().outstanding(), 0U);
  submit(request);
  drive_until(1);
  EXPECT_EQ(sink.last.kind, Outcome::Kind::granted);
}

// The requests had no outcome for as long as the process ran.
TEST_F(DriverWithoutMemory, EveryRequestEndsAsUnknownIfTheClientCannotSend) {
  client.answers = false;
  Request first = acquire_of("a"), second = acquire_of("b");
  submit(first);
  client.lacks_memory_to_send = true;
  submit(second);
  drive_until(2);
  EXPECT_EQ(client.started_over, 1);
  EXPECT_EQ(sink.last.kind, Outcome::Kind::unknown);
  EXPECT_EQ(sink.last.reason, "out of memory");
  EXPECT_FALSE(sink.last.never_ran);
  EXPECT_EQ(sink.downs, 1);
  EXPECT_EQ(client.outbox().outstanding(), 0U);
}

TEST_F(DriverWithoutMemory, EveryRequestEndsAsUnknownIfTheClientCannotReadReplies) {
  client.answers = false;
  Request first = acquire_of("a"), second = acquire_of("b");
  submit(first);
  submit(second);
  client.lacks_memory = true;
  client.answer_now();
  drive_until(2);
  EXPECT_EQ(client.started_over, 1);
  EXPECT_EQ(sink.outcomes, 2);
  EXPECT_EQ(sink.last.kind, Outcome::Kind::unknown);
  EXPECT_EQ(sink.downs, 1);
}

}  // namespace
}  // namespace latchkey::detail::stores
