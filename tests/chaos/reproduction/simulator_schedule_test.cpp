// Planned faults as faults of the simulator, and the file that has them.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/simulator_schedule.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

namespace latchkey::chaos {
namespace {

using enum FaultKind;

/// At 1200 ms for 300 ms, of worker 2, key 4 or the server.
PlannedFault planned(FaultKind kind) {
  PlannedFault fault{.kind = kind, .at_ms = 1'200, .length_ms = 300, .strength = 7};
  if (traits(kind).target == Target::worker) fault.worker = 2;
  if (traits(kind).target == Target::key) fault.key = 4;
  return fault;
}

std::string translated(FaultKind kind) { return text_of(translate({planned(kind)}).schedule); }

TEST(SimulatorSchedule, FaultsOfAWorkerConcernItsProcess) {
  for (const FaultKind kind : {client_stop_short, client_stop_long}) {
    EXPECT_EQ(translated(kind), "at 1200 ms: freeze process 2 for 300 ms\n");
  }
  EXPECT_EQ(translated(client_kill), "at 1200 ms: crash process 2\n");
  for (const FaultKind kind : {client_descriptors, link_mute, link_half_open, link_cut,
                               link_cut_mid_reply, link_refused, link_late_delivery}) {
    EXPECT_EQ(translated(kind), "at 1200 ms: disconnect process 2 for 300 ms\n");
  }
}

TEST(SimulatorSchedule, AServerThatIsAwayDisconnectsEveryProcess) {
  for (const FaultKind kind :
       {server_stop_short, server_stop_long, server_kill, server_shutdown, server_pause,
        server_pause_writes, kill_normal, kill_pubsub, node_stop, node_kill, failover, master_kill,
        master_stop_short, master_stop_long}) {
    EXPECT_EQ(translated(kind),
              "at 1200 ms: disconnect process 0 for 300 ms\n"
              "at 1200 ms: disconnect process 1 for 300 ms\n"
              "at 1200 ms: disconnect process 2 for 300 ms\n");
  }
}

TEST(SimulatorSchedule, WhatTheServerLosesItLoses) {
  for (const FaultKind kind : {server_kill_empty, flushall}) {
    EXPECT_EQ(translated(kind), "at 1200 ms: restart for 300 ms\n");
  }
  for (const FaultKind kind : {delete_key, forced_release}) {
    EXPECT_EQ(translated(kind), "at 1200 ms: forced-release key 4\n");
  }
}

TEST(SimulatorSchedule, AClockJumpsAsThatOfTheServerDoes) {
  EXPECT_EQ(translated(clock_forward), "at 1200 ms: clock-forward by 13000 ms\n");
  EXPECT_EQ(translated(clock_back),
            "at 1200 ms: clock-back by 7000 ms\n"
            "at 1500 ms: clock-forward by 7000 ms\n");
}

TEST(SimulatorSchedule, WhatHasNoCounterpartIsCounted) {
  std::vector<PlannedFault> plan;
  for (const FaultKind kind : all_kinds()) plan.push_back(planned(kind));
  std::set<FaultKind> without;
  for (const PlannedFault& fault : plan) {
    if (translate({fault}).left_out == 1) without.insert(fault.kind);
  }
  EXPECT_EQ(without,
            (std::set{client_hang,       revocation,       delete_watched,    client_fork,
                      client_no_threads, client_no_memory, tool_stop,         tool_kill,
                      link_bytewise,     link_slow,        script_flush,      busy_script,
                      max_memory,        no_replicas,      forbidden_command, pattern_subscriber,
                      session_settings,  slot_move,        replica_stop,      replica_kill,
                      kill_replicas,     sentinel_stop,    sentinel_kill,     proxy_errors,
                      member_stop,       member_kill,      wrong_type}));
  EXPECT_EQ(translate(plan).left_out, without.size());
}

TEST(SimulatorSchedule, FaultsAreInTheOrderOfTheirTimes) {
  std::vector<PlannedFault> plan{planned(clock_back), planned(client_kill)};
  plan.back().at_ms = 1'300;
  EXPECT_EQ(text_of(translate(plan).schedule),
            "at 1200 ms: clock-back by 7000 ms\n"
            "at 1300 ms: crash process 2\n"
            "at 1500 ms: clock-forward by 7000 ms\n");
}

class ScheduleFile : public ::testing::Test {
 protected:
  ~ScheduleFile() override { std::filesystem::remove(file_); }

  void write(const std::string& text) const { std::ofstream(file_) << text; }
  /// With FILE for the name of the file.
  [[nodiscard]] std::string message_of(const std::string& line) const {
    write(line);
    try {
      read_schedule(file_);
    } catch (const std::invalid_argument& error) {
      std::string text = error.what();
      return text.replace(text.find(file_.string()), file_.string().size(), "FILE");
    }
    return "accepted";
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("latchkey_schedule." + std::to_string(::getpid()));
};

TEST_F(ScheduleFile, HasEveryKindOfFault) {
  std::vector<PlannedFault> plan;
  for (const FaultKind kind : all_kinds()) plan.push_back(planned(kind));
  const std::string text = text_of(translate(plan).schedule);
  write("# faults of the simulator\n\n" + text);
  EXPECT_EQ(text_of(read_schedule(file_)), text);
}

TEST_F(ScheduleFile, WrongWordsAreNamed) {
  EXPECT_EQ(message_of("# nothing\n"), "no fault in 'FILE'");
  EXPECT_EQ(message_of("\n12 ms: crash process 1"), "FILE:2: expected 'at', not '12'");
  EXPECT_EQ(message_of("at x ms: crash process 1"), "FILE:1: expected a number, not 'x'");
  EXPECT_EQ(message_of("at -1 ms: crash process 1"), "FILE:1: expected a number, not '-1'");
  EXPECT_EQ(message_of("at 1 ms: crash key 1"), "FILE:1: expected 'process', not 'key'");
  EXPECT_EQ(message_of("at 1 ms: crash process 1 for 2 ms"),
            "FILE:1: expected the end of the line, not 'for'");
  EXPECT_EQ(message_of("at 1 ms: restart for"),
            "FILE:1: expected a number, not the end of the line");
  EXPECT_EQ(message_of("at 1 ms: flush"),
            "FILE:1: unknown fault 'flush'; expected one of disconnect, freeze, crash, restart, "
            "clock-forward, clock-back, forced-release");
  std::filesystem::remove(file_);
  EXPECT_THROW(read_schedule(file_), std::invalid_argument);
}

}  // namespace
}  // namespace latchkey::chaos
