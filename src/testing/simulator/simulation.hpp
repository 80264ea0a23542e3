// One run: clients, their callers, a network, a store and faults, all from one seed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/testing/simulator.hpp>

#include "locks/multi/multi_acquire_plan.hpp"
#include "testing/simulator/judge.hpp"
#include "testing/simulator/network.hpp"
#include "testing/simulator/process.hpp"
#include "testing/simulator/sim_clock.hpp"
#include "testing/simulator/store.hpp"
#include "testing/simulator/world.hpp"

namespace latchkey::sim {

using Report = testing::SimulationReport;

/// A simulated thread: it acquires, re-enters, extends, waits and gives back, as chance has it.
struct Caller {
  enum class Doing : std::uint8_t { nothing, acquire, extend, release };

  Owner owner = Owner::nobody();
  Doing doing = Doing::nothing;
  std::optional<Call> call;
  std::uint32_t key = 0;
  std::uint64_t steps = 0;  ///< voids what was due for an earlier one
  std::uint64_t alarms = 0;
  bool excused = true;  ///< what it gives back may be lost
  bool doubts = false;  ///< nobody could tell it what became of its release
};

/// What a thread takes to go on: a server cannot lose its data and grant again within no time.
inline constexpr std::chrono::microseconds moment{2};

/// One request for several keys.
struct Together {
  Request request;
  std::vector<Member> members;
  std::vector<RemoteHold*> claims;
};

/// A simulated thread that takes several keys at once: it does what a MultiAcquirePlan decides, as
/// MultiAcquire does.
struct Joint {
  struct Part {
    std::uint32_t key = 0;
    LockType type = LockType::REENTRANT;
    std::optional<Call> call;
    bool under_way = false;       ///< the call
    bool acquiring = false;       ///< and it would be granted
    RemoteHold* claim = nullptr;  ///< asked for together with others
    RemoteHold* hold = nullptr;
    bool kept = false;
    std::uint64_t alarms = 0;
  };

  Owner owner = Owner::nobody();
  Lease lease = watchdog;
  Clock::time_point until{};
  std::optional<detail::MultiAcquirePlan> composite;
  std::deque<Part> parts;              // whose calls stay where they are
  milliseconds grace{};                ///< of its wait, see Call
  std::unique_ptr<Together> together;  ///< the one request for all
  bool asking = false;                 ///< it is under way, and waited for
  bool started = false;                ///< the step is being carried out
  std::uint64_t steps = 0;             ///< voids what was due for an earlier one
  std::uint64_t ends = 0;              ///< voids the end of an earlier step
};

struct Client {
  std::unique_ptr<SimClock> clock;
  std::unique_ptr<Process> process;
  std::vector<Caller> callers;
  std::vector<Joint> joints;
  std::vector<std::unique_ptr<Together>> left;  ///< whose wait was over before they were answered
  Clock::duration frozen_until{};
};

class Simulation final : private ProcessHost, private NetworkUser {
 public:
  /// `make` empty: over latchkey's own table.
  Simulation(std::uint64_t seed, bool keeps_text, const testing::MakeStore& make = {})
      : world_(seed, keeps_text),
        store_(make ? make_backend_store(world_.now, make) : make_table_store(world_.now)),
        keys_(key_names(world_.plan.keys.size())),
        network_(world_, *store_, keys_, *this),
        judge_(world_, keys_.size()),
        clients_(world_.plan.clients) {
    world_.plan.keep_to(store_->offers());
    for (std::uint32_t client = 0; client < clients_.size(); ++client) start(client);
  }

  /// `steps` events with faults, then as many as it takes to come to rest without.
  Report run(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps && sound(); ++step) {
      if (!world_.plan.good) maybe_fault();
      advance();
    }
    if (sound()) calm_down();
    for (std::uint64_t step = 0; step < 50'000 && sound() && !world_.agenda.empty(); ++step) {
      advance();
    }
    if (sound()) look_for_remains();
    for (std::uint32_t client = 0; client < clients_.size(); ++client) tear_down(client);
    return {world_.violation, world_.trace.text(), world_.trace.hash(), grants_, losses_};
  }

 private:
  [[nodiscard]] bool sound() const noexcept { return world_.violation.empty(); }

  static std::vector<std::string> key_names(std::size_t count) {
    std::vector<std::string> names;
    names.reserve(count);
    for (std::size_t key = 0; key < count; ++key) names.push_back("key" + std::to_string(key));
    return names;
  }

  // --- events and time (simulation_events.cpp) ---
  void start(std::uint32_t client);
  void advance();
  void happen(const ScheduledEvent& due);
  void timer(std::uint32_t client, std::uint32_t key);
  void alarm(std::uint32_t client, std::uint32_t index, std::uint64_t epoch);
  void cancel(std::uint32_t client, std::uint32_t index, std::uint64_t epoch);
  void notice(const ScheduledEvent& due);
  [[nodiscard]] bool queue_rests(std::uint32_t client, std::uint32_t key) const;
  void calm_down();
  void look_for_remains();

  // --- faults (simulation_faults.cpp) ---
  void maybe_fault();
  void freeze(std::uint32_t client);
  void crash(std::uint32_t client);
  void tear_down(std::uint32_t client);
  void server_fault(std::uint32_t key);
  [[nodiscard]] Clock::duration noticed_within(const GrantedHold& grip) const;

  // --- callers (simulation_callers.cpp) ---
  void step(std::uint32_t client, std::uint32_t index);
  void begin(std::uint32_t client, std::uint32_t index);
  void go_on(std::uint32_t client, std::uint32_t index, std::vector<GrantedHold> mine);
  void acquire(std::uint32_t client, std::uint32_t index, LockType type, bool by_lock);
  void extend(std::uint32_t client, std::uint32_t index, const GrantedHold& grip);
  void release(std::uint32_t client, std::uint32_t index, GrantedHold grip);
  void end_thread(std::uint32_t client, std::uint32_t index);
  void resolved(std::uint32_t client, std::uint32_t index);
  void grip(std::uint32_t client, std::uint32_t index);
  void rest(std::uint32_t client, std::uint32_t index, Clock::duration length);
  void set_alarm(std::uint32_t client, std::uint32_t index);
  [[nodiscard]] Call& fresh_call(Caller& caller, Caller::Doing doing, Clock::time_point now);
  [[nodiscard]] LockType some_type(std::uint32_t key);
  [[nodiscard]] Lease some_lease();
  [[nodiscard]] Wait some_wait();
  [[nodiscard]] std::vector<GrantedHold> grips_of(std::uint32_t client, const Caller& caller) const;

  // --- callers of several keys (simulation_joints.hpp) ---
  void joint_step(std::uint32_t client, std::uint32_t index);
  void joint_ends(std::uint32_t client, std::uint32_t index, std::uint64_t epoch);
  void joint_alarm(std::uint32_t client, std::uint32_t index, std::uint64_t epoch);
  void joint_rest(std::uint32_t client, std::uint32_t index, Clock::duration length);
  void begin_joint(std::uint32_t client, Joint& joint);
  void start_joint(std::uint32_t client, Joint& joint);
  void finish_joint(std::uint32_t client, Joint& joint);
  void end_joint(std::uint32_t client, std::uint32_t index);
  void attempt_all(std::uint32_t client, Joint& joint);
  void tell_all(std::uint32_t client, Joint& joint, const Outcome& outcome);
  void joint_answered(std::uint32_t client, const Request& request, const Outcome& outcome);
  void answered_late(std::uint32_t client, const Request& request, const Outcome& outcome);
  void leave_together(std::uint32_t client, Joint& joint);
  bool joint_woken(std::uint32_t client, const Call& call);
  void joint_call(std::uint32_t client, Joint& joint, Joint::Part& part, Caller::Doing doing);
  void joint_granted(std::uint32_t client, Joint& joint, Joint::Part& part, bool kept);
  void unpin(std::uint32_t client, Joint& joint, Joint::Part& part);
  void bury_joints(std::uint32_t client);
  [[nodiscard]] static std::uint32_t grip_number(std::uint32_t joint) { return 1'000 + joint; }
  [[nodiscard]] static Request alone(const Request& request, const Member& member);

  // --- what the parts say ---
  bool answers_at_once(Process& process, Request& request, Outcome& outcome) override;
  void submitted(Process& process, Request& request) override;
  void woken(Process& process, Call& call) override;
  void told(Process& process, const Event& event) override;
  void before_turn(Process& process, Coordinator& coordinator) override;
  void after_turn(Process& process, Coordinator& coordinator) override;
  void applied(std::uint32_t client, const Request& request, const Outcome& outcome,
               bool awaited) override;
  void look_for_ghost(std::uint32_t client, const Request& request, std::string_view when);
  void answered(std::uint32_t client, Request& request, Outcome outcome) override;
  void notified(std::uint32_t client, const Notification& notification) override;
  void troubled(std::uint32_t client) override { judge_.troubled(client); }

  ProcessHost& host() noexcept { return *this; }

  World world_;
  std::unique_ptr<Store> store_;
  std::vector<std::string> keys_;
  Network network_;
  Judge judge_;
  std::vector<Client> clients_;
  std::uint64_t spaces_ = 0;
  std::uint64_t grants_ = 0;
  std::uint64_t losses_ = 0;
};

}  // namespace latchkey::sim
