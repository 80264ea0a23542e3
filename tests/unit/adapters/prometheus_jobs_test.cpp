// The metrics of Leaders, scheduled jobs and latches.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/leader.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/semaphore.hpp>

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
    return counter("latchkey_once_total", {{"method", ""}, {"outcome", outcome}});
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
    const Leader leader = locks_.locks().leader("k", duty.callback());
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
  const Leader leader = locks_.locks().leader("k", duty.callback());
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

struct PrometheusJobs {
  static void night(int day) { LOCKED_ONCE_PER("prometheus night:{day}", 24h) AROUND(day){}; }
};

/// The name of the method above, as the listener knows it.
std::string name_of_night() {
  for (const Site& site : sites()) {
    if (site.method().ends_with("PrometheusJobs::night")) return std::string(site.name());
  }
  return "no site";
}

TEST_F(PrometheusJobsTest, RunsOfALockedOncePerHaveTheNameOfTheMethod) {
  const std::string name = name_of_night();
  const auto night = [&](const char* outcome) {
    return counter("latchkey_once_total", {{"method", name}, {"outcome", outcome}});
  };
  EXPECT_EQ(night("ran"), 0) << "the series begins before the first run";
  PrometheusJobs::night(1);
  PrometheusJobs::night(1);
  EXPECT_EQ(night("ran"), 1);
  EXPECT_EQ(night("taken"), 1);
  const std::string jobs = "latchkey_once:{key}:{instant}";
  EXPECT_EQ(
      at("latchkey_attempts_total", jobs, {{"method", name}, {"outcome", "taken"}}).counter.value,
      1);
}

void scan(int id, const std::function<void()>& body) {
  LOCKED("prometheus scan:{id}").permits(3, 2).named<"scan">() AROUND(id, body) { body(); };
}

TEST_F(PrometheusJobsTest, PermitsAreCountedWhileTheyAreTaken) {
  const auto taken = [&] { return at("latchkey_permits", "prometheus scan:{id}").gauge.value; };
  double inside = 0;
  scan(1, [&] {
    inside = taken();
    const Hold more = locks_.locks().semaphore("prometheus scan:1", 3).acquire(1, forever);
    EXPECT_EQ(at("latchkey_permits", "").gauge.value, 1) << "of calls without a LOCKED";
  });
  EXPECT_EQ(inside, 2);
  EXPECT_EQ(taken(), 0);
  EXPECT_EQ(at("latchkey_permits", "").gauge.value, 0);
}

TEST_F(PrometheusJobsTest, ATakenInstantIsNoTimeoutOfItsLock) {
  const OncePer job = locks_.locks().once_per("k", 15min, {.wait = 10ms});
  const auto skipping = clock_.skip_waits();
  job.run([&] { EXPECT_FALSE(job.run([] {})) << "another run is under way"; });
  EXPECT_FALSE(job.run([] {})) << "it is done";
  const std::string jobs = "latchkey_once:{key}:{instant}";
  const auto of_jobs = [&](const char* outcome) {
    return at("latchkey_attempts_total", jobs, {{"method", ""}, {"outcome", outcome}})
        .counter.value;
  };
  EXPECT_EQ(of_jobs("granted"), 1);
  EXPECT_EQ(of_jobs("taken"), 2);
  EXPECT_EQ(of_jobs("timeout"), 0);
  EXPECT_EQ(at("latchkey_waiters", jobs, {{"method", ""}}).gauge.value, 0);
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
