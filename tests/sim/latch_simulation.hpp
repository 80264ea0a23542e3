// A latch of several simulated processes, over connections with faults and a server that loses its
// data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "locks/latch/latch_wait.hpp"
#include "memory/count_table.hpp"
#include "sim/latch_model.hpp"
#include "testing/simulator/world/event_queue.hpp"
#include "testing/simulator/world/random.hpp"

namespace latchkey::inline v1::sim {

/// Two to four processes count a latch down and wait for it, by latchkey's own decisions
/// (LatchWait) and the count table of the memory backend. All else is simulated: how long each
/// message takes or that it is lost, connections that break, processes that freeze or crash, a
/// server that is flushed or comes back empty. The seed decides everything. LatchModel judges the
/// promises of docs/semaphores.md.
class LatchSimulation {
 public:
  explicit LatchSimulation(std::uint64_t seed);

  LatchSimulationReport run(int steps);

 private:
  using Time = Clock::time_point;
  using Length = std::chrono::milliseconds;
  using Step = detail::LatchWait::Step;
  using Kind = Outcome::Kind;
  static constexpr std::size_t waits_of_each = 2;

  /// The receiver of the server's messages.
  struct Channel final : detail::Subscriber {
    LatchSimulation* simulation = nullptr;
    std::size_t process = 0;
    void notify(const Notification&) noexcept override { simulation->publish(process); }
  };
  /// One wait after the other.
  struct Waiter {
    std::optional<detail::LatchWait> wait;
    LatchModel::Wait seen;     ///< the judge's record of `wait`
    std::uint64_t number = 0;  ///< the step that is under way; older replies are ignored
    bool subscribed = false, notified = false;
  };
  struct Process {
    std::uint64_t epoch = 0;       ///< a crash makes its events void
    std::uint64_t connection = 0;  ///< a break loses what is on the way
    bool connected = true;
    Time last_at_store{}, last_reply{};  ///< a connection keeps the order
    Time frozen_until{};
    Waiter waiters[waits_of_each];
    std::uint64_t count = 0;  ///< the change of the count that is under way, in counts_; 0: none
    LatchModel::Calm calm;
  };
  enum class What : std::uint8_t { act, begin, at_store, reply, timeout, message, reconnect };
  struct Event {
    Time at{};
    std::uint64_t order = 0;
    std::size_t process = 0;
    std::uint64_t epoch = 0, connection = 0;
    What what{};
    std::size_t waiter = 0;  ///< waits_of_each: the change of the count
    std::uint64_t number = 0;
    Verb verb{};
    std::uint32_t tokens = 0;
    Outcome outcome{};
  };

  // --- what happens ---
  void start(Process& process);
  void handle(Process& process, const Event& event);
  void act(Process& process);
  void begin(Process& process, std::size_t which);
  void arrive(Process& process, const Event& event);
  void on_reply(Process& process, const Event& event);
  void on_count_reply(Process& process, const Event& event);
  void on_timeout(Process& process, const Event& event);
  void publish(std::size_t process);
  void wake_all(Process& process);
  void disturb();
  void crash(Process& process);
  void cut(Process& process);
  void lose_data(bool keeps_connections);

  // --- what the processes do ---
  void carry_out(Process& process, std::size_t which);
  void leave(Process& process, Waiter& waiter);
  [[nodiscard]] bool is_awaited(const Process& process) const;
  void send(Process& process, std::size_t waiter, std::uint64_t number, Verb verb,
            std::uint32_t tokens = 1);

  void schedule(Process& process, Length in, Event event);
  /// It was on a connection that has broken since.
  [[nodiscard]] static bool is_lost(const Process& process, const Event& event);
  void judge_all();
  [[nodiscard]] std::size_t index_of(const Process& process) const {
    return static_cast<std::size_t>(&process - processes_.data());
  }
  [[nodiscard]] Length length(int most) {
    return Length(random_.below(static_cast<std::uint64_t>(most)));
  }
  [[nodiscard]] Length message(Process& process);

  Random random_;
  detail::LatchWait::Settings settings_;
  int pause_;        ///< the longest one of a process between two changes of the count, in ms
  unsigned faults_;  ///< the chance of one with each event, in percent
  Time now_{std::chrono::hours(1'000)};
  detail::CountTable store_;
  bool silent_ = false;  ///< the server publishes nothing
  std::uint64_t last_number_ = 0;
  std::vector<Process> processes_;
  std::vector<LatchModel::Count> counts_{1};
  std::deque<Channel> channels_;
  EventQueue<Event> events_;
  LatchModel model_;
};

}  // namespace latchkey::inline v1::sim
