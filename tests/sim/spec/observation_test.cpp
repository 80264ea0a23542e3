// The histories that docs/spec/Trace.tla reads: their text, and that each violation can be planted.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/spec/planted.hpp"
#include "sim/spec/tla_text.hpp"
#include "testing/simulator/simulation.hpp"

namespace latchkey::sim {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t steps = 1'000;

Observation step(std::int64_t at) {
  return {"word", at, {at, at - 1}, {std::int64_t{3}, std::string_view("lost"), true}};
}

TEST(Histories, EachIsADefinitionOfAModule) {
  EXPECT_EQ(module_of({{7, 1, 2, {step(10), step(20)}}, {8, 0, 2, {step(5)}}}),
            "---- MODULE Histories ----\n"
            "EXTENDS Integers\n"
            "H1 == [seed |-> 7, key |-> 1, clients |-> 2, events |-> <<\n"
            "<<\"word\",10,<<10,9>>,3,\"lost\",TRUE>>,\n"
            "<<\"word\",20,<<20,19>>,3,\"lost\",TRUE>>>>]\n"
            "H2 == [seed |-> 8, key |-> 0, clients |-> 2, events |-> <<\n"
            "<<\"word\",5,<<5,4>>,3,\"lost\",TRUE>>>>]\n"
            "Histories == <<H1,H2>>\n"
            "====\n");
}

TEST(Histories, TimesBeyondTheIntegersOfTlcAreRejected) {
  const std::int64_t late = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
  try {
    (void)module_of({{7, 1, 2, {step(late)}}});
    FAIL() << "a number of 33 bits was printed";
  } catch (const std::range_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("2147483648"));
    EXPECT_THAT(error.what(), HasSubstr("32 bits"));
  }
}

TEST(Histories, RunsThatAreObservedAreTheSameRuns) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Simulation observed(seed, false);
    observed.observe();
    ASSERT_EQ(observed.run(steps).hash, Simulation(seed, false).run(steps).hash) << seed;
  }
}

TEST(Histories, TimeNeverGoesBack) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    for (const KeyObservations& each : observe_seed(seed, steps)) {
      EXPECT_TRUE(std::ranges::is_sorted(each.steps, {}, &Observation::at)) << seed;
      EXPECT_EQ(each.steps.back().kind, "ended");
    }
  }
}

// TLC must reject what is planted (`make spec`); a history with a place for it comes soon.
TEST(Histories, HaveAPlaceForEachPlantedViolation) {
  for (const Planted& planted : all_planted()) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 1'000 && !found; ++seed) {
      for (KeyObservations& each : observe_seed(seed, steps)) {
        found = found || planted.plant(each.steps);
      }
    }
    EXPECT_TRUE(found) << planted.name;
  }
}

}  // namespace
}  // namespace latchkey::sim
