// PrometheusListener: every metric of docs/events.md, with values computed from a manual clock.
#include <latchkey/adapters/prometheus.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/held.hpp>
#include <latchkey/listeners.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "prometheus_fixture.hpp"
#include "support/recorder.hpp"

namespace latchkey {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST_F(PrometheusTest, LabelsNameTheCallAndNeverTheKey) {
  for (int id = 0; id < 100; ++id) work(id, [] {});
  for (const PrometheusListener::Metric& metric : PrometheusListener::metrics()) {
    const auto all = series(std::string(metric.name));
    if (metric.name == "latchkey_reports_total") {
      std::set<std::string> kinds;
      for (const auto& [labels, value] : all) kinds.insert(labels.at("kind"));
      EXPECT_THAT(kinds,
                  ElementsAre("abandoned", "hidden_error", "order", "unlock_error", "warning"));
    } else if (metric.name == "latchkey_once_total") {
      EXPECT_EQ(all.size() % 4, 0U) << "four outcomes of each LOCKED_ONCE_PER, and of OncePer::run";
      for (const auto& [labels, value] : all) EXPECT_EQ(value.counter.value, 0);
    } else if (metric.name == "latchkey_latches_total") {
      EXPECT_EQ(all.size(), 4U) << metric.name;
      for (const auto& [labels, value] : all) EXPECT_EQ(value.counter.value, 0);
    } else if (metric.name == "latchkey_leaders" || metric.name == "latchkey_elections_total" ||
               metric.name == "latchkey_depositions_total" ||
               metric.name == "latchkey_events_dropped_total") {
      EXPECT_THAT(all, ElementsAre(Pair(IsEmpty(), ::testing::_)));
    } else if (metric.name == "latchkey_permits") {
      EXPECT_THAT(all, IsEmpty()) << "no semaphore was used";
    } else if (metric.name == "latchkey_backend_up" || metric.name == "latchkey_reconnects_total") {
      EXPECT_THAT(all, IsEmpty()) << "memory has no connection";
    } else {
      int found = 0;
      for (const auto& [labels, value] : all) {
        EXPECT_EQ(labels.size(), metric.name == "latchkey_attempts_total" ? 3U : 2U);
        if (labels.at("template") != "prometheus:{id}") continue;
        ++found;
        EXPECT_EQ(labels.at("method"), "work");
      }
      EXPECT_EQ(found, metric.name == "latchkey_attempts_total" ? 8 : 1) << metric.name;
    }
  }
  EXPECT_EQ(only("latchkey_acquire_seconds").histogram.sample_count, 100U);
  EXPECT_EQ(only("latchkey_hold_seconds").histogram.sample_count, 100U);
}

void never_called(int id) { LOCKED("prometheus never:{id}").named<"never">() AROUND(id){}; }

TEST_F(PrometheusTest, ASiteThatWasNeverCalledIsReportedAsZero) {
  if (registry_.Collect().empty()) never_called(1);  // never, and the compiler cannot know
  EXPECT_EQ(attempts("granted", "prometheus never:{id}"), 0);
  EXPECT_EQ(attempts("unavailable", "prometheus never:{id}"), 0);
  EXPECT_EQ(at("latchkey_lost_total", "prometheus never:{id}").counter.value, 0);
  EXPECT_EQ(at("latchkey_holds", "prometheus never:{id}").gauge.value, 0);
  EXPECT_EQ(at("latchkey_wait_seconds", "prometheus never:{id}").histogram.sample_count, 0U);
}

void named_late(int id) { LOCKED("prometheus late:{id}").named("late") AROUND(id){}; }

TEST_F(PrometheusTest, ANameGivenByTheFirstCallReplacesTheMethod) {
  named_late(1);
  EXPECT_EQ(at("latchkey_acquire_seconds", "prometheus late:{id}", {{"method", "late"}})
                .histogram.sample_count,
            1U);
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

TEST_F(PrometheusTest, CountsLossesByHeldAtMostOnceMore) {
  EXPECT_EQ(at("latchkey_held_too_long_total", "prometheus limited:{id}").counter.value, 0);
  const auto call = [&](int id) {
    LOCKED("prometheus limited:{id}", LockType::WRITE, 3s, watchdog)
        .named<"limited">()
        .held_at_most(5s) AROUND(id) {
      clock_.advance(5s);
    };
  };
  EXPECT_THROW(call(1), LockLost);
  EXPECT_EQ(at("latchkey_held_too_long_total", "prometheus limited:{id}").counter.value, 1);
  EXPECT_EQ(at("latchkey_lost_total", "prometheus limited:{id}").counter.value, 1);
  EXPECT_THROW(work(1, [&] { clock_.advance(10s); }), LockLost);
  EXPECT_EQ(only("latchkey_held_too_long_total").counter.value, 0);
}

TEST_F(PrometheusTest, CountsHoldsWhoseHolderWasAskedToReleaseThem) {
  work(1, [&] {
    EXPECT_FALSE(current_hold()->revoked());
    EXPECT_EQ(locks_.locks().revoke("prometheus:1"), 1U);
    EXPECT_TRUE(tests::eventually([&] { return current_hold()->revoked(); }));
  });
  EXPECT_EQ(only("latchkey_revoked_total").counter.value, 1);
  EXPECT_EQ(only("latchkey_lost_total").counter.value, 0);
}

TEST_F(PrometheusTest, CountsAttemptsByOutcome) {
  const Hold hold = locks_.locks().with_owner(Owner::make()).lock("prometheus:1").acquire(0ms, 1h);
  const auto skipping = clock_.skip_waits();
  EXPECT_THROW(work(1, [] {}), LockTimeout);
  work(2, [] {});
  EXPECT_EQ(attempts("timeout"), 1);
  EXPECT_EQ(attempts("granted"), 1);
  EXPECT_EQ(attempts("refused"), 0);
  EXPECT_EQ(attempts("granted", ""), 1) << "the other acquire was no LOCKED's";
}

TEST_F(PrometheusTest, MeasuresHowLateRenewalsAre) {
  const Hold hold = locks_.locks().lock("watched").acquire(forever);
  ASSERT_TRUE(clock_.await_sleepers(1));
  clock_.advance(12s);  // 2 s after a third of the watchdog's period
  ASSERT_TRUE(clock_.await_sleepers(1));
  const auto lag = at("latchkey_renewal_lag_seconds", "").histogram;
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
