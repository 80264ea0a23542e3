// Scheduled faults of the simulator.
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <latchkey/testing/simulator.hpp>

#include "unit/backend/toy_backend.hpp"

namespace latchkey::testing {
namespace {

using namespace std::chrono_literals;
using Kind = ScheduledFault::Kind;

/// With the trace.
SimulationReport run(std::uint64_t seed, std::vector<ScheduledFault> schedule) {
  return simulate(seed, {.steps = 100, .trace = true, .schedule = std::move(schedule)});
}

/// Whether the trace has `what` at this time, before the faults stop.
bool has(const SimulationReport& report, std::chrono::microseconds at, const std::string& what) {
  const std::string with_faults = report.trace.substr(0, report.trace.find("faults stop"));
  return with_faults.find(" " + std::to_string(at.count()) + " us  " + what) != std::string::npos;
}

void expect_at(std::chrono::microseconds at, const std::string& what, const ScheduledFault& fault) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SimulationReport report = run(seed, {fault});
    EXPECT_EQ(report.violation, "") << "seed " << seed;
    EXPECT_TRUE(has(report, at, what)) << what << ", seed " << seed << "\n" << report.trace;
  }
}

TEST(SimulatorSchedule, EachKindHappensAtItsTime) {
  expect_at(2'500ms, "c1  disconnected\n",
            {.at = 2'500ms, .kind = Kind::disconnect, .process = 1, .length = 400ms});
  expect_at(3s, "c0  freeze 900000000\n",
            {.at = 3s, .kind = Kind::freeze, .process = 0, .length = 900ms});
  expect_at(7ms, "c1  crash\n", {.at = 7ms, .kind = Kind::crash, .process = 1});
  expect_at(1'001ms, "c0  restart\n", {.at = 1'001ms, .kind = Kind::restart, .length = 200ms});
  expect_at(4s, "c0  jump 60000000000\n", {.at = 4s, .kind = Kind::clock_forward, .length = 60s});
  expect_at(5s, "c0  jump back 90000000000\n", {.at = 5s, .kind = Kind::clock_back, .length = 90s});
  expect_at(6s, "c0  force_release key0\n", {.at = 6s, .kind = Kind::forced_release, .key = 0});
}

TEST(SimulatorSchedule, AConnectionAndTheServerAreBackAfterTheLength) {
  for (const Kind kind : {Kind::disconnect, Kind::restart}) {
    expect_at(2'900ms, "c1  connected\n",
              {.at = 2'500ms, .kind = kind, .process = 1, .length = 400ms});
  }
}

TEST(SimulatorSchedule, NumbersAreTakenModuloWhatTheSeedHasDrawn) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SimulationReport report =
        run(seed, {{.at = 1s, .kind = Kind::crash, .process = 6},  // modulo 2 or 3 processes
                   {.at = 2s, .kind = Kind::forced_release, .key = 12}});  // modulo 1 to 4 keys
    EXPECT_TRUE(has(report, 1s, "c0  crash\n"));
    EXPECT_TRUE(has(report, 2s, "c0  force_release key0\n"));
  }
}

TEST(SimulatorSchedule, NothingElseHappens) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const SimulationReport report = run(seed, {{.at = 1ms, .kind = Kind::crash, .process = 1}});
    ASSERT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
    for (const char* const drawn :
         {"disconnected", "freeze", "jump", "restart", "force_release", "reply lost"}) {
      EXPECT_EQ(report.trace.find(std::string("  ") + drawn), std::string::npos) << drawn;
    }
    EXPECT_EQ(report.trace.find("crash"), report.trace.rfind("crash"));
  }
}

TEST(SimulatorSchedule, SameSeedAndScheduleGiveTheSameRun) {
  const std::vector<ScheduledFault> schedule{
      {.at = 500ms, .kind = Kind::freeze, .process = 1, .length = 1s},
      {.at = 300ms, .kind = Kind::restart, .length = 100ms}};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::uint64_t hash = run(seed, schedule).hash;
    EXPECT_EQ(hash, run(seed, schedule).hash);
    EXPECT_NE(hash, run(seed, {schedule.front()}).hash);
    EXPECT_NE(hash, run(seed + 1'000, schedule).hash);
  }
}

TEST(SimulatorSchedule, ManyFaultsAtOnceKeepEveryPromise) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    std::vector<ScheduledFault> schedule;
    for (std::uint32_t number = 0; number < 24; ++number) {
      const auto mix = static_cast<std::uint32_t>(seed * 31 + number * 17);
      constexpr Kind kinds[] = {Kind::disconnect,    Kind::freeze,     Kind::crash,
                                Kind::clock_forward, Kind::clock_back, Kind::forced_release};
      schedule.push_back({.at = std::chrono::milliseconds(400 * number),
                          .kind = kinds[mix % 6],
                          .process = mix / 6,
                          .key = mix / 7,
                          .length = std::chrono::milliseconds(mix % 3'000)});
    }
    const SimulationReport report = run(seed, schedule);
    ASSERT_EQ(report.violation, "") << "seed " << seed << "\n" << report.trace;
  }
}

TEST(SimulatorSchedule, ANegativeTimeIsRejected) {
  EXPECT_THROW(static_cast<void>(run(1, {{.at = -1ms}})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(run(1, {{.length = -1ms}})), std::invalid_argument);
}

/// A store whose tokens start over when it restarts, which its other faults do not show.
class ForgetfulStore final : public SimulatedStore {
 public:
  explicit ForgetfulStore(Clock& clock) : store_(std::make_shared<toy::Store>(clock)) {}
  std::unique_ptr<Backend> connect() override { return std::make_unique<toy::ToyBackend>(store_); }
  void restart() override {
    store_->rows.clear();
    store_->last_token = 0;
  }

 private:
  std::shared_ptr<toy::Store> store_;
};

std::string first_violation(const std::vector<ScheduledFault>& schedule) {
  const MakeStore store = [](Clock& clock) { return std::make_unique<ForgetfulStore>(clock); };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const SimulationReport report = simulate(seed, {.store = store, .schedule = schedule});
    if (report.violation.empty()) continue;
    EXPECT_TRUE(has(report, 2s, "c0  restart\n")) << report.trace;
    return report.violation;
  }
  return {};
}

TEST(SimulatorSchedule, AWrongStoreIsFoundByTheFaultThatShowsIt) {
  EXPECT_EQ(first_violation({{.at = 2s, .kind = Kind::restart}}), "a fencing token did not rise");
  EXPECT_EQ(first_violation({{.at = 2s, .kind = Kind::disconnect, .length = 1s}}), "");
}

}  // namespace
}  // namespace latchkey::testing
