// Leaders in several simulated processes, over a network with faults and a server that loses its
// data.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/lock_table.hpp"
#include "testing/simulator/world/event_queue.hpp"
#include "testing/simulator/world/random.hpp"

namespace latchkey::inline v1::sim {

/// The results of a run.
struct LeaderSimulationReport {
  std::string violation;  ///< empty: no promise was broken
  int terms = 0;
  int deposed = 0;  ///< told to stop by the loss of the lock, or before its deadline
};

/// Two to four Leaders campaign, lead and are deposed, by latchkey's own decisions
/// (leader_term.hpp) and the lock table of the memory backend. All else is simulated: how long each
/// message takes or that it is lost, processes that freeze or crash, callbacks that heed their stop
/// late, a server that comes back empty and whose clock goes back. The seed decides everything.
/// Judges the promises of docs/leader.md.
class LeaderSimulation {
 public:
  explicit LeaderSimulation(std::uint64_t seed);

  LeaderSimulationReport run(int steps);

 private:
  using Time = Clock::time_point;
  using Length = std::chrono::milliseconds;

  enum class Doing : std::uint8_t { waits, asks, leads, stops };

  struct Process {
    Doing doing = Doing::waits;
    std::uint64_t epoch = 0;  ///< the end of a term or of the process makes its events void
    HoldId id{};
    Time deadline{};
    std::uint64_t term = 0, last_term = 0;
    Time frozen_until{};
    std::uint64_t lineage = 0;  ///< the store's data that granted the term
  };
  enum class What : std::uint8_t { ask, answer, renew, renewed, look, ended };
  struct Event {
    Time at;
    std::uint64_t order;
    std::size_t process;
    std::uint64_t epoch;
    What what;
    Outcome outcome{};
    Time sent{};
    std::uint64_t lineage = 0;  ///< the data that the outcome is from
  };

  void schedule(Process& process, What what, Length in, Outcome outcome = {}, Time sent = {});
  void handle(Process& process, const Event& event);
  void disturb();
  Outcome apply(Process& process, Verb verb);
  void on_answer(Process& process, const Event& event);
  void look(Process& process);
  void end(Process& process);
  void judge(const Process& elected);
  [[nodiscard]] bool believes(const Process& process) const noexcept {
    return (process.doing == Doing::leads || process.doing == Doing::stops) &&
           now_ < process.deadline;
  }
  [[nodiscard]] Length length(int most) {
    return Length(random_.below(static_cast<std::uint64_t>(most)));
  }
  [[nodiscard]] Length message() { return random_.percent(5) ? length(2'000) : length(20); }

  static constexpr Length lease{900}, stop_before{150}, margin{9};

  Random random_;
  std::optional<detail::LockTable> store_{std::in_place};
  Time now_{std::chrono::hours(1'000)};
  Length server_behind_{};     ///< the server's clock went back by this
  std::uint64_t lineage_ = 1;  ///< counts the times that the server came back empty
  std::uint64_t last_id_ = 0;
  std::vector<Process> processes_;
  EventQueue<Event> events_;
  LeaderSimulationReport report_;
};

}  // namespace latchkey::inline v1::sim
