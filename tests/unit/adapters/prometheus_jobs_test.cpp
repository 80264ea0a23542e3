// The metrics of Leaders, scheduled jobs and latches.
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/leader.hpp>
#include <latchkey/once_per.hpp>

#include "prometheus_fixture.hpp"
#include "support/recorder.hpp"
#include "unit/leader/duty.hpp"

namespace latchkey {
namespace {

class PrometheusJobsTest : public PrometheusTest {
 protected:
  double gauge(const std::string& name) { return series(name).at({}).gauge.value; }
  double counter(const std::string& name, const Labels& labels = {}) {
    return series(name).at(labels).counter.value;
  }
  double once(const std::string& outcome) {
    return counter("latchkey_once_total", {{"outcome", outcome}});
  }
  double latches(const std::string& event) {
    return counter("latchkey_latches_total", {{"event", event}});
  }
};

TEST_F(PrometheusJobsTest, ALeaderLeadsFromItsElectionUntilItsTermEnds) {
  EXPECT_EQ(gauge("latchkey_leaders"), 0);
  EXPECT_EQ(counter("latchkey_elections_total"), 0);
  tests::Duty duty;
  {
    const Leader leader(locks_.locks(), "k", duty.callback());
    ASSERT_TRUE(duty.await_terms(1));
    EXPECT_EQ(gauge("latchkey_leaders"), 1);
    EXPECT_EQ(counter("latchkey_elections_total"), 1);
  }
  EXPECT_EQ(gauge("latchkey_leaders"), 0);
  EXPECT_EQ(counter("latchkey_depositions_total"), 0) << "it ended in order";
}

TEST_F(PrometheusJobsTest, ADeposedLeaderLeadsNoMore) {
  tests::Duty duty;
  duty.lingers = true;
  const Leader leader(locks_.locks(), "k", duty.callback());
  ASSERT_TRUE(duty.await_terms(1));
  clock_.advance(31s);
  ASSERT_TRUE(duty.await_stops(1));
  EXPECT_TRUE(tests::eventually([&] { return counter("latchkey_depositions_total") == 1; }));
  EXPECT_EQ(gauge("latchkey_leaders"), 0) << "although its callback has not ended";
  duty.finish();
}

TEST_F(PrometheusJobsTest, RunsOfAJobAreCountedByOutcome) {
  const OncePer job = locks_.locks().once_per("k", 15min, {.start_within = 1min});
  EXPECT_THROW(job.run([] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_TRUE(job.run([] {}));
  EXPECT_FALSE(job.run([] {}));
  clock_.advance(2min);
  EXPECT_FALSE(job.run([] {}));
  for (const char* const outcome : {"ran", "taken", "late", "failed"}) {
    EXPECT_EQ(once(outcome), 1) << outcome;
  }
}

TEST_F(PrometheusJobsTest, ATakenInstantIsNoTimeoutOfItsLock) {
  const OncePer job = locks_.locks().once_per("k", 15min, {.wait = 10ms});
  const auto skipping = clock_.skip_waits();
  job.run([&] { EXPECT_FALSE(job.run([] {})) << "another run is under way"; });
  EXPECT_FALSE(job.run([] {})) << "it is done";
  const std::string jobs = "latchkey_once:{key}:{instant}";
  EXPECT_EQ(attempts("granted", jobs), 1);
  EXPECT_EQ(attempts("taken", jobs), 2);
  EXPECT_EQ(attempts("timeout", jobs), 0);
  EXPECT_EQ(at("latchkey_waiters", jobs).gauge.value, 0);
}

TEST_F(PrometheusJobsTest, LatchesAreCountedByEvent) {
  const CountDownLatch latch = locks_.locks().count_down_latch("k");
  EXPECT_TRUE(latch.try_set_count(1));
  EXPECT_FALSE(latch.wait_for(0ms));
  EXPECT_EQ(latch.count_down(), 0U);
  EXPECT_TRUE(latch.wait_for(0ms));
  EXPECT_EQ(latches("counted"), 2);
  EXPECT_EQ(latches("timeout"), 1);
  EXPECT_EQ(latches("opened"), 1);
  EXPECT_EQ(latches("failed"), 0);
}

}  // namespace
}  // namespace latchkey
