// Tests of the outcomes that a store's client hands out if no memory is left.
// SPDX-License-Identifier: BSL-1.0
#include "stores/driver/outbox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <span>
#include <vector>

#include "exhaustion/scarce_memory.hpp"

namespace latchkey::detail::stores {
namespace {

constexpr std::size_t most_failures = 1000;

struct Receiver final : Sink {
  void completed(Request& /*request*/, Outcome&& outcome) noexcept override {
    ++(outcome.kind == Outcome::Kind::unknown ? unknown : known);
  }
  void notified(const Notification& notification) noexcept override {
    if (notification.kind == Notification::Kind::link_down) ++downs;
  }
  int known = 0, unknown = 0, downs = 0;
};

class OutboxWithoutMemory : public ::testing::Test {
 protected:
  OutboxWithoutMemory() {
    outbox_.link(true, {});
    outbox_.know(sink_);
    for (Request& each : requests_) all_.push_back(&each);
    outbox_.begin(all_, sink_);
  }
  void deliver() {
    std::array<Delivery, 3> some;
    while (const std::size_t count = outbox_.take(some)) {
      for (Delivery& each : std::span(some).first(count)) each.hand_over();
    }
  }

  Outbox outbox_;
  Receiver sink_;
  std::array<Request, 40> requests_{};
  std::vector<Request*> all_;
};

TEST_F(OutboxWithoutMemory, LosingEveryRequestNeedsNone) {
  for (std::size_t index = 0; index < 10; ++index) {
    outbox_.complete(requests_[index], sink_, Outcome::Kind::granted);
  }
  tests::fail_allocation(1, most_failures);
  outbox_.lose_all();
  deliver();
  EXPECT_FALSE(tests::allocation_failed());
  EXPECT_EQ(sink_.known, 10);
  EXPECT_EQ(sink_.unknown, 30);
  EXPECT_EQ(sink_.downs, 1);
  EXPECT_TRUE(outbox_.empty());
  EXPECT_EQ(outbox_.outstanding(), 0U);
}

TEST_F(OutboxWithoutMemory, AnOutcomeOfARequestThatHasBegunNeedsNone) {
  tests::fail_allocation(1, most_failures);
  for (Request& each : requests_) outbox_.complete(each, sink_, Outcome::Kind::granted);
  deliver();
  EXPECT_FALSE(tests::allocation_failed());
  EXPECT_EQ(sink_.known, 40);
}

TEST_F(OutboxWithoutMemory, ANotificationThatCannotBeMadeLeavesNothing) {
  outbox_.withdraw(all_);
  const std::string key(100, 'k');
  for (std::size_t nth = 1; nth <= 2; ++nth) {
    tests::fail_allocation(nth);
    try {
      outbox_.notify(sink_, Notification::Kind::released, key);
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(outbox_.empty());
    }
    tests::allocation_failed();
    deliver();
  }
}

TEST_F(OutboxWithoutMemory, RequestsBeginAllOrNone) {
  std::array<Request, 5> more{};
  std::vector<Request*> fresh;
  for (Request& each : more) fresh.push_back(&each);
  const std::size_t before = outbox_.outstanding();
  for (std::size_t nth = 1; nth <= fresh.size(); ++nth) {
    tests::fail_allocation(nth);
    EXPECT_THROW(outbox_.begin(fresh, sink_), std::bad_alloc);
    EXPECT_TRUE(tests::allocation_failed());
    EXPECT_EQ(outbox_.outstanding(), before);
  }
}

}  // namespace
}  // namespace latchkey::detail::stores
