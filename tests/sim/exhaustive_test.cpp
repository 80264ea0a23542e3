// Each schedule keeps the promises.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "sim/every_schedule.hpp"

namespace latchkey::sim {
namespace {

class Exhaustive : public ::testing::TestWithParam<Budget> {};

std::string name_of(const ::testing::TestParamInfo<Budget>& each) {
  const Budget& budget = each.param;
  std::string name = std::string(to_string(budget.type)) + "_drops" + std::to_string(budget.drops) +
                     "_expiries" + std::to_string(budget.expiries);
  if (!budget.idle) return name;
  name += "_freezes" + std::to_string(budget.freezes) + "_pauses" + std::to_string(budget.pauses);
  return name + (budget.in_order ? "_in_order" : "");
}

TEST_P(Exhaustive, EveryScheduleKeepsThePromises) {
  Choices choices;
  std::uint64_t schedules = 0;
  do {
    ++schedules;
    const std::string violation = Schedule(choices, GetParam()).run();
    ASSERT_EQ(violation, "") << "schedule " << schedules << ": " << choices.text();
  } while (choices.next());
  RecordProperty("schedules", std::to_string(schedules));
  EXPECT_GT(schedules, 1'000U);
}

INSTANTIATE_TEST_SUITE_P(TwoClients, Exhaustive,
                         ::testing::Values(Budget{LockType::REENTRANT, 2, 0},
                                           Budget{LockType::REENTRANT, 1, 1},
                                           Budget{LockType::FAIR, 1, 1},
                                           Budget{LockType::READ, 1, 1},
                                           Budget{LockType::WRITE, 1, 1}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(IdleHolds, Exhaustive, ::testing::ValuesIn(idle_budgets), name_of);

}  // namespace
}  // namespace latchkey::sim
