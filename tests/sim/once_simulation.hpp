// Scheduled jobs of several simulated processes with wrong clocks, over a network with faults.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "memory/lock_table.hpp"
#include "once/once_schedule.hpp"
#include "testing/simulator/world/event_queue.hpp"
#include "testing/simulator/world/random.hpp"

namespace latchkey::inline v1::sim {

/// The results of a run.
struct OnceSimulationReport {
  std::string violation;  ///< empty: no promise was broken
  int runs = 0;           ///< bodies that began
  int repeated = 0;       ///< runs after another one of the same instant
};

/// Two to four processes call OncePer::run again and again, by latchkey's own schedule and the
/// lock table of the memory backend. All else is simulated: the requests of a run, how long each
/// message and each body takes, processes that crash, freeze or whose clocks are set. The seed
/// decides everything. Judges both promises of latchkey/once_per.hpp.
class OnceSimulation {
 public:
  explicit OnceSimulation(std::uint64_t seed);

  OnceSimulationReport run(int steps);

 private:
  using Time = Clock::time_point;
  using Length = std::chrono::milliseconds;
  using Wall = detail::OnceSchedule::Wall;

  /// | stage    | next event                              | next                             |
  /// |----------|-----------------------------------------|----------------------------------|
  /// | idle     | it calls run                            | asking, or idle: it is late      |
  /// | asking   | the request arrives at the store        | answered                         |
  /// | answered | the reply arrives                       | running, or idle: it is taken    |
  /// | running  | the body ends                           | marking, or idle: it has failed  |
  /// | marking  | the request to keep the key arrives     | marked                           |
  /// | marked   | its reply arrives                       | idle                             |
  enum class Stage : std::uint8_t { idle, asking, answered, running, marking, marked };

  struct Process {
    Stage stage = Stage::idle;
    std::uint64_t epoch = 0;  ///< a crash makes its events void
    Length error{};           ///< how far its clock is off
    Wall instant{};
    HoldId id{};
    bool granted = false;  ///< the store's last answer
    Time sent{};
    Time deadline{};  ///< from which its lock is lost
    int run = -1;     ///< its entry in runs_
  };
  struct Run {
    Wall instant;
    Time begun;
    Time believed_until;         ///< the end of its body or of its belief, if that is earlier
    std::optional<Time> done{};  ///< it was marked, and returned `ran`
  };
  struct Event {
    Time at;
    std::uint64_t order;
    std::size_t process;
    std::uint64_t epoch;
  };

  void next_in(Process& process, Length length);
  void step(Process& process);
  void disturb();
  void call_run(Process& process);
  void apply(Process& process, Verb verb, Length lease);
  void on_reply(Process& process);
  void on_body_end(Process& process);
  void end(Process& process);
  void judge(const Run& run);
  [[nodiscard]] Wall wall(const Process& process) const;
  [[nodiscard]] Length length(int most) {
    return Length(random_.below(static_cast<std::uint64_t>(most)));
  }
  [[nodiscard]] Length message();
  [[nodiscard]] Length lease() const { return skips_ ? schedule_.mark() : Length(300); }

  Random random_;
  bool skips_;  ///< OnFailure::skip_instant
  detail::OnceSchedule schedule_;
  detail::LockTable store_;
  Time now_{std::chrono::hours(1'000)};
  std::uint64_t last_id_ = 0;
  std::vector<Process> processes_;
  EventQueue<Event> events_;
  std::vector<Run> runs_;
  OnceSimulationReport report_;
};

}  // namespace latchkey::inline v1::sim
