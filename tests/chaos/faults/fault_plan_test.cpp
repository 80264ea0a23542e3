// Plans of faults.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/faults/fault_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "chaos/faults/forbidden_commands.hpp"

namespace latchkey::chaos {
namespace {

TEST(FaultPlan, ASeedGivesTheSameFaultsEachTime) {
  const auto first = draw_faults(7, {}), second = draw_faults(7, {});
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t index = 0; index < first.size(); ++index) {
    EXPECT_EQ(describe(first[index]), describe(second[index]));
  }
}

TEST(FaultPlan, FaultsOfOneTargetDoNotOverlap) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto faults = draw_faults(seed, {});
    const bool lacks_member = is_of_member(faults.front().kind);
    EXPECT_GT(faults.size(), lacks_member ? 0U : 4U);
    for (std::size_t index = 0; index < faults.size(); ++index) {
      for (std::size_t next = index + 1; next < faults.size(); ++next) {
        if (faults[index].worker != faults[next].worker) continue;
        EXPECT_LE(faults[index].at_ms + faults[index].length_ms, faults[next].at_ms);
      }
    }
  }
}

// The server would lose its tokens, and make lower ones.
TEST(FaultPlan, TheClockIsNotSetBackInARoundThatLosesData) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    bool loses = false, goes_back = false;
    for (const PlannedFault& fault : draw_faults(seed, {})) {
      loses |= fault.kind == FaultKind::flushall || fault.kind == FaultKind::server_kill_empty;
      goes_back |= fault.kind == FaultKind::clock_back;
    }
    EXPECT_FALSE(loses && goes_back) << "seed " << seed;
  }
}

TEST(FaultPlan, EveryKindIsDrawnInAFewDozenRounds) {
  std::set<FaultKind> kinds;
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (const PlannedFault& fault : draw_faults(seed_of_round(1, round), {})) {
      kinds.insert(fault.kind);
    }
  }
  EXPECT_EQ(kinds.size(), fault_kinds.size());
}

// Their visitors are asked for, so they need no chance.
TEST(FaultPlan, EachRoundButALongOneHasEachFaultWhoseVisitorIsAskedFor) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::multiset<FaultKind> kinds;
    for (const PlannedFault& fault : draw_faults(seed, {})) kinds.insert(fault.kind);
    if (is_of_member(*kinds.begin())) continue;
    for (const FaultKind kind :
         {FaultKind::client_hang, FaultKind::revocation, FaultKind::delete_watched}) {
      EXPECT_GE(kinds.count(kind), 1U) << traits(kind).name << ", seed " << seed;
    }
  }
  std::vector<FaultKind> others = all_kinds();
  std::erase_if(others, is_of_each_round);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const PlannedFault& fault : draw_faults(seed, {}, others)) {
      EXPECT_FALSE(is_of_each_round(fault.kind)) << "a deployment that does not have it";
    }
  }
}

// Otherwise two of three members could be away, and nothing would be promised.
TEST(FaultPlan, WhileAMemberIsAwayNothingElseHappens) {
  std::size_t rounds = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto faults = draw_faults(seed, {});
    const auto of_members = std::ranges::count_if(
        faults, [](const PlannedFault& fault) { return is_of_member(fault.kind); });
    if (of_members == 0) continue;
    EXPECT_EQ(faults.size(), 1U) << "seed " << seed;
    EXPECT_EQ(faults.front().length_ms, 60'000);
    ++rounds;
  }
  EXPECT_GT(rounds, 20U);
  EXPECT_LT(rounds, 60U);
}

// Without companion faults, a handshake meets a busy script only by chance.
TEST(FaultPlan, WorkersOftenConnectAnewWhileAScriptRuns) {
  constexpr int lua_time_limit_ms = 150;
  std::size_t scripts = 0, meetings = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const auto faults = draw_faults(seed, {});
    for (const PlannedFault& script : faults) {
      if (script.kind != FaultKind::busy_script) continue;
      ++scripts;
      meetings += std::ranges::any_of(faults, [&](const PlannedFault& other) {
        const bool connects =
            other.kind == FaultKind::link_cut || other.kind == FaultKind::client_kill;
        return connects && other.at_ms > script.at_ms + lua_time_limit_ms &&
               other.at_ms < script.at_ms + script.length_ms;
      });
    }
  }
  EXPECT_GT(scripts, 100U);
  EXPECT_GT(4 * meetings, scripts);
}

// They have the most keys beside them, and most of what can go wrong when these are apart.
TEST(FaultPlan, TwoThirdsOfTheSlotsThatMoveAreThoseOfReads) {
  std::size_t moves = 0, of_reads = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const PlannedFault& fault : draw_faults_of(seed, {}, {FaultKind::slot_move}, 12)) {
      ++moves;
      of_reads += fault.key == 2 || fault.key == 5 || fault.key == 7;
    }
  }
  EXPECT_GT(2 * of_reads, moves);
}

TEST(FaultPlan, WhatIsLeftOutChangesNoOtherFault) {
  const std::vector<PlannedFault> all = draw_faults_of(7, {}, all_kinds(), 24);
  std::vector<PlannedFault> some = all;
  leave_out(some, std::nullopt, {1, 3});
  ASSERT_LT(some.size(), all.size());
  for (const PlannedFault& fault : some) {
    EXPECT_NE(fault.worker, 1);
    EXPECT_NE(fault.worker, 3);
    EXPECT_EQ(describe(fault), describe(all.at(fault.number)));
  }
  const auto stays = [](const PlannedFault& fault) {
    return fault.worker != 1 && fault.worker != 3;
  };
  EXPECT_EQ(static_cast<std::ptrdiff_t>(some.size()), std::ranges::count_if(all, stays));
  leave_out(some, std::set{some.front().number, some.back().number}, {});
  EXPECT_EQ(some.size(), 2U);
  leave_out(some, std::set<std::size_t>{}, {});
  EXPECT_TRUE(some.empty());
}

TEST(FaultPlan, TheFirstRoundOfARunHasItsSeed) {
  EXPECT_EQ(seed_of_round(42, 0), 42U);
  EXPECT_NE(seed_of_round(42, 1), seed_of_round(42, 2));
}

// A command that is new in a script must be added to forbidden_commands, too.
TEST(ForbiddenCommands, TheyAreThoseOfTheScripts) {
  std::set<std::string> called;
  const std::regex call("p?call\\('([A-Z]+)'");
  for (const auto& file : std::filesystem::recursive_directory_iterator(LATCHKEY_LUA)) {
    if (file.path().extension() != ".lua") continue;
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const std::string script = text.str();
    for (std::sregex_iterator each(script.begin(), script.end(), call), end; each != end; ++each) {
      called.insert((*each)[1]);
    }
  }
  EXPECT_GT(called.size(), 30U);
  std::set<std::string> forbidden(forbidden_commands.begin(), forbidden_commands.end());
  for (const char* const other : {"EVALSHA", "EVAL", "SUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE"}) {
    EXPECT_EQ(forbidden.erase(other), 1U) << other;
  }
  EXPECT_EQ(forbidden, called);
}

TEST(FaultPlan, AForbiddingRoundForbidsCommandsInTurn) {
  std::set<std::string_view> commands;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const PlannedFault& fault : draw_faults(seed, {})) {
      if (fault.kind == FaultKind::forbidden_command) {
        commands.insert(forbidden_name(fault.strength));
      }
    }
  }
  EXPECT_EQ(commands.size(), forbidden_commands.size());
}

TEST(FaultKinds, TheTableIsInTheOrderOfTheKinds) {
  for (const FaultTraits& each : fault_kinds) EXPECT_EQ(traits(each.kind).name, each.name);
}

}  // namespace
}  // namespace latchkey::chaos
