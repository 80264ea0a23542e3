// PrometheusListener: gauges, waits without round trips, and outages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/testing/mock_backend.hpp>

#include "prometheus_fixture.hpp"
#include "support/linked_backend.hpp"
#include "support/recorder.hpp"

namespace latchkey {
namespace {

using ::testing::HasSubstr;

TEST_F(PrometheusTest, HoldsAndWaitersAreCurrentCounts) {
  work(1, [&] {
    work(1, [&] { EXPECT_EQ(only("latchkey_holds").gauge.value, 1) << "a re-entry is no second"; });
    auto waiter = std::async(std::launch::async, [] { work(1, [] {}); });
    EXPECT_TRUE(clock_.await_sleepers(1));
    EXPECT_TRUE(
        latchkey::tests::eventually([&] { return only("latchkey_waiters").gauge.value == 1; }));
    EXPECT_EQ(only("latchkey_holds").gauge.value, 1);
    clock_.advance(2s);
    waiter_ = std::move(waiter);
  });
  waiter_.get();
  EXPECT_EQ(only("latchkey_waiters").gauge.value, 0);
  EXPECT_EQ(only("latchkey_holds").gauge.value, 0);
  EXPECT_THROW(work(1, [&] { clock_.advance(10s); }), LockLost);
  EXPECT_EQ(only("latchkey_holds").gauge.value, 0);
  const auto wait = only("latchkey_wait_seconds").histogram;
  EXPECT_EQ(wait.sample_count, 1U) << "three others found it free";
  EXPECT_DOUBLE_EQ(wait.sample_sum, 2);
  EXPECT_EQ(only("latchkey_acquire_seconds").histogram.sample_count, 4U);
}

TEST_F(PrometheusTest, CountsUsesAndRecallsOfIdleLocks) {
  Event granted;
  granted.kind = Event::Kind::granted;
  listener_.on_event(granted);
  granted.cached = true;
  listener_.on_event(granted);
  EXPECT_EQ(attempts("granted", ""), 2);
  EXPECT_EQ(at("latchkey_cached_total", "").counter.value, 1);
  Event recalled;
  recalled.kind = Event::Kind::recalled;
  listener_.on_event(recalled);
  EXPECT_EQ(at("latchkey_recalled_total", "").counter.value, 1);
  EXPECT_EQ(at("latchkey_holds", "").gauge.value, 0) << "nobody held it";
}

TEST_F(PrometheusTest, CountersAndGaugesStayRightWhenEventsAreDropped) {
  Event::Missed missed{Event::Kind::granted, {}, 5, 4, 1, 2};
  Event event;
  event.kind = Event::Kind::dropped;
  event.count = 12;
  event.missed = {missed,
                  {Event::Kind::waiting, {}, 2, 0, 0},
                  {Event::Kind::timeout, {}, 1, 0, 1},
                  {Event::Kind::released, {}, 4, 0, 0}};
  listener_.on_event(event);
  EXPECT_EQ(attempts("granted", ""), 5);
  EXPECT_EQ(attempts("timeout", ""), 1);
  EXPECT_EQ(at("latchkey_cached_total", "").counter.value, 2);
  EXPECT_EQ(at("latchkey_holds", "").gauge.value, 0);
  EXPECT_EQ(at("latchkey_waiters", "").gauge.value, 0);
  EXPECT_EQ(series("latchkey_events_dropped_total").begin()->second.counter.value, 12);
}

TEST_F(PrometheusTest, AScrapeShowsAnOutage) {
  latchkey::tests::Faults faults;
  auto backend =
      std::make_unique<latchkey::tests::LinkedBackend>(faults, std::vector<Connection>{{}});
  latchkey::tests::LinkedBackend& link = *backend;
  const Locks linked(std::move(backend), {.listener = &listener_});
  const auto pay = [&](int id) {
    LOCKED("prometheus pay:{id}", LockType::REENTRANT, 10ms, 10s)
        .in(linked)
        .named<"pay">() AROUND(id) {
      faults.silent = true;
    };
  };
  const auto scrape = [&] {
    EXPECT_TRUE(linked.flush(10s));
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  };
  const std::string server = R"({backend="linked",server="linked"})";
  EXPECT_THAT(scrape(), HasSubstr("latchkey_backend_up" + server + " 1\n"));
  EXPECT_NO_THROW(pay(1)) << "its body ran; the release is reported";
  EXPECT_THROW(pay(2), BackendUnavailable);
  faults.silent = false;
  faults.refusing = true;
  EXPECT_THROW(pay(3), BackendRefused);  // the second acquire is still being released
  faults.refusing = false;
  link.notify(Notification::Kind::link_down, {}, "the cable");
  const std::string text = scrape();
  const std::string place = R"({method="pay",)";
  const auto outcome = [&](const char* what, int count) {
    return "latchkey_attempts_total" + place + "outcome=\"" + what +
           "\",template=\"prometheus pay:{id}\"} " + std::to_string(count) + "\n";
  };
  EXPECT_THAT(text, HasSubstr(outcome("granted", 1)));
  EXPECT_THAT(text, HasSubstr(outcome("unavailable", 1)));
  EXPECT_THAT(text, HasSubstr(outcome("refused", 1)));
  EXPECT_THAT(text, HasSubstr(outcome("timeout", 0)));
  EXPECT_THAT(text, HasSubstr("latchkey_releases_unconfirmed_total" + place +
                              "template=\"prometheus pay:{id}\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("latchkey_holds" + place + "template=\"prometheus pay:{id}\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("latchkey_backend_up" + server + " 0\n"));
  EXPECT_THAT(text, HasSubstr("latchkey_reconnects_total" + server + " 0\n"));
  link.notify(Notification::Kind::link_up);
  const std::string after = scrape();
  EXPECT_THAT(after, HasSubstr("latchkey_backend_up" + server + " 1\n"));
  EXPECT_THAT(after, HasSubstr("latchkey_reconnects_total" + server + " 1\n"));
}

TEST_F(PrometheusTest, AnUncontendedAcquireIsNotCountedAsAWait) {
  using latchkey::testing::MockBackend;
  auto backend = std::make_unique<::testing::NiceMock<MockBackend>>(clock_);
  EXPECT_CALL(*backend, acquire(::testing::_)).WillOnce([&](const Request&) {
    clock_.advance(7ms);  // the round trip
    return MockBackend::granted();
  });
  const latchkey::testing::ScopedLocks mocked(std::move(backend),
                                              {.clock = &clock_, .listener = &listener_});
  work(1, [] {});
  ASSERT_TRUE(mocked.locks().flush(10s));
  EXPECT_EQ(only("latchkey_wait_seconds").histogram.sample_count, 0U);
  EXPECT_DOUBLE_EQ(only("latchkey_acquire_seconds").histogram.sample_sum, 0.007);
}

TEST_F(PrometheusTest, MeasuresWaits) {
  using latchkey::testing::MockBackend;
  auto backend = std::make_unique<::testing::NiceMock<MockBackend>>(clock_);
  EXPECT_CALL(*backend, acquire(::testing::_))
      .WillOnce([&](const Request&) {
        clock_.advance(1ms);  // the round trip, which is not waiting
        return MockBackend::busy(5ms);
      })
      .WillOnce(::testing::Return(MockBackend::granted()));
  const latchkey::testing::ScopedLocks mocked(std::move(backend),
                                              {.clock = &clock_, .listener = &listener_});
  const auto skipping = clock_.skip_waits();
  work(1, [] {});
  ASSERT_TRUE(mocked.locks().flush(10s));
  const auto wait = only("latchkey_wait_seconds").histogram;
  EXPECT_EQ(wait.sample_count, 1U);
  EXPECT_DOUBLE_EQ(wait.sample_sum, 0.005);
}

}  // namespace
}  // namespace latchkey
