// PrometheusListener: every metric that docs/events.md names, with values that follow from the
// time.
#include <latchkey/adapters/prometheus.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/listeners.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/mock_backend.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class PrometheusTest : public ::testing::Test {
 protected:
  using Labels = std::map<std::string, std::string>;

  /// The series of one family by their labels.
  std::map<Labels, prometheus::ClientMetric> series(const std::string& name) {
    std::map<Labels, prometheus::ClientMetric> found;
    locks_.locks().flush(10s);
    for (const prometheus::MetricFamily& family : registry_.Collect()) {
      if (family.name != name) continue;
      for (const prometheus::ClientMetric& metric : family.metric) {
        Labels labels;
        for (const auto& label : metric.label) labels[label.name] = label.value;
        found[labels] = metric;
      }
    }
    return found;
  }
  prometheus::ClientMetric only(const std::string& name) {
    const auto all = series(name);
    EXPECT_EQ(all.size(), 1U) << name;
    return all.empty() ? prometheus::ClientMetric() : all.begin()->second;
  }

  prometheus::Registry registry_;
  PrometheusListener listener_{registry_};
  latchkey::testing::ManualClock clock_;
  const latchkey::testing::ScopedLocks locks_{Options{.clock = &clock_, .listener = &listener_}};
};

template <class Body>
void work(int id, Body&& body) {
  LOCKED("work:{id}", LockType::WRITE, 3s, 10s) AROUND(id) { body(); };
}

TEST_F(PrometheusTest, LabelsArePlaceAndTypeAndNeverTheKey) {
  for (int id = 0; id < 100; ++id) work(id, [] {});
  for (const PrometheusListener::Metric& metric : PrometheusListener::metrics()) {
    const auto all = series(std::string(metric.name));
    if (metric.name == "latchkey_reports_total") {
      std::set<std::string> kinds;
      for (const auto& [labels, value] : all) kinds.insert(labels.at("kind"));
      EXPECT_THAT(kinds,
                  ElementsAre("abandoned", "hidden_error", "order", "unlock_error", "warning"));
    } else if (metric.name == "latchkey_events_dropped_total") {
      EXPECT_THAT(all, ElementsAre(Pair(IsEmpty(), ::testing::_)));
    } else {
      ASSERT_EQ(all.size(), 1U) << metric.name;
      const Labels& labels = all.begin()->first;
      EXPECT_EQ(labels.size(), 3U);
      EXPECT_EQ(labels.at("template"), "work:{id}");
      EXPECT_THAT(labels.at("method"), HasSubstr("work"));
      EXPECT_EQ(labels.at("type"), "WRITE");
    }
  }
  EXPECT_EQ(only("latchkey_wait_seconds").histogram.sample_count, 100U);
  EXPECT_EQ(only("latchkey_hold_seconds").histogram.sample_count, 100U);
}

TEST_F(PrometheusTest, MeasuresHoldsAndLeases) {
  work(1, [&] { clock_.advance(2'500ms); });
  const auto hold = only("latchkey_hold_seconds").histogram;
  EXPECT_EQ(hold.sample_count, 1U);
  EXPECT_DOUBLE_EQ(hold.sample_sum, 2.5);
  const auto used = only("latchkey_lease_used_ratio").histogram;
  EXPECT_EQ(used.sample_count, 1U);
  EXPECT_NEAR(used.sample_sum, 0.25, 0.02);
  EXPECT_EQ(only("latchkey_lost_total").counter.value, 0);
}

TEST_F(PrometheusTest, CountsLosses) {
  EXPECT_THROW(work(1, [&] { clock_.advance(10s); }), LockLost);
  EXPECT_EQ(only("latchkey_lost_total").counter.value, 1);
  EXPECT_EQ(only("latchkey_lease_used_ratio").histogram.sample_sum, 1);
  EXPECT_DOUBLE_EQ(only("latchkey_hold_seconds").histogram.sample_sum, 10);
}

TEST_F(PrometheusTest, CountsTimeouts) {
  const Hold hold = locks_.locks().with_owner(Owner::make()).lock("work:1").acquire(0ms, 1h);
  const auto skipping = clock_.skip_waits();
  EXPECT_THROW(work(1, [] {}), LockTimeout);
  const auto all = series("latchkey_timeouts_total");
  EXPECT_EQ(all.size(), 2U) << "the other acquire was no LOCKED's";
  for (const auto& [labels, metric] : all) {
    EXPECT_EQ(metric.counter.value, labels.at("template").empty() ? 0 : 1);
  }
}

TEST_F(PrometheusTest, MeasuresWaits) {
  using latchkey::testing::MockBackend;
  auto backend = std::make_unique<::testing::NiceMock<MockBackend>>(clock_);
  EXPECT_CALL(*backend, acquire(::testing::_))
      .WillOnce(::testing::Return(MockBackend::busy(5ms)))
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

TEST_F(PrometheusTest, MeasuresHowLateRenewalsAre) {
  const Hold hold = locks_.locks().lock("watched").acquire();
  ASSERT_TRUE(clock_.await_sleepers(1));
  clock_.advance(12s);  // 2 s after a third of the watchdog's period
  ASSERT_TRUE(clock_.await_sleepers(1));
  const auto lag = only("latchkey_renewal_lag_seconds").histogram;
  EXPECT_EQ(lag.sample_count, 1U);
  EXPECT_DOUBLE_EQ(lag.sample_sum, 2);
}

TEST_F(PrometheusTest, CountsReports) {
  locks_.locks().lock("not mine").unlock();
  const auto all = series("latchkey_reports_total");
  EXPECT_EQ(all.at({{"kind", "unlock_error"}}).counter.value, 1);
  EXPECT_EQ(all.at({{"kind", "order"}}).counter.value, 0);
}

TEST(PrometheusNames, AreThoseOfThePage) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("/tests/") + 1) + "docs/events.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `latchkey_")) rows.push_back(line);
  }
  const auto metrics = PrometheusListener::metrics();
  ASSERT_EQ(rows.size(), metrics.size());
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const PrometheusListener::Metric& metric = metrics[index];
    EXPECT_TRUE(rows[index].starts_with("| `" + std::string(metric.name) + "` | " +
                                        std::string(metric.kind) + " | "))
        << rows[index];
    EXPECT_TRUE(rows[index].ends_with("| " + std::string(metric.help) + " |")) << rows[index];
  }
}

}  // namespace
}  // namespace latchkey
