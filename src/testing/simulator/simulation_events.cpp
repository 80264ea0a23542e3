// The simulation's events: what is due, to whom it goes, and what is left at the end.
#include <algorithm>
#include <string>
#include <utility>

#include "testing/simulator/simulation.hpp"

namespace latchkey::sim {

void Simulation::start(std::uint32_t client) {
  Client& its = clients_[client];
  const auto drift = static_cast<std::uint64_t>(world_.plan.drift);
  const auto skew = static_cast<std::int64_t>(world_.random.below(2 * drift + 1));
  const auto origin = std::chrono::seconds(1'000 * (client + 1));
  its.clock = std::make_unique<SimClock>(world_.now, origin, skew - world_.plan.drift);
  judge_.clients[client].clock = its.clock.get();
  judge_.clients[client].facts.resize(1);
  its.callers = std::vector<Caller>(world_.plan.callers);
  CoordinatorSettings settings = world_.plan.settings;
  settings.space = {++spaces_, client};
  network_.set_space(client, settings.space);
  its.process =
      std::make_unique<Process>(client, *its.clock, settings, world_.random.next(), host());
  for (std::uint32_t index = 0; index < its.callers.size(); ++index) {
    Caller& caller = its.callers[index];
    const bool shares = world_.plan.shares_owners && index % 2 == 1;
    caller.owner = shares ? its.callers[index - 1].owner : Owner::make();
    rest(client, index, world_.random.between({}, milliseconds(20)));
  }
  its.joints = std::vector<Joint>(world_.plan.joint ? 2 : 0);
  for (std::uint32_t index = 0; index < its.joints.size(); ++index) {
    its.joints[index].owner = Owner::make();
    joint_rest(client, index, world_.random.between({}, milliseconds(20)));
  }
}

void Simulation::advance() {
  if (world_.agenda.empty()) return;
  const ScheduledEvent due = world_.agenda.next();
  world_.now = std::max(world_.now, due.at);
  const bool of_the_client = due.due != Due::deliver && due.due != Due::notice;
  if (of_the_client && clients_[due.client].frozen_until > world_.now) {
    // A stopped process sees what happened meanwhile when it goes on, in the same order.
    world_.agenda.enter(clients_[due.client].frozen_until, due.due, due.client, due.index,
                        due.epoch);
    return;
  }
  happen(due);
}

void Simulation::happen(const ScheduledEvent& due) {
  Client& client = clients_[due.client];
  switch (due.due) {
    case Due::deliver: return network_.deliver(due.index);
    case Due::reply: return network_.reply(due.index);
    case Due::timeout: return network_.timeout(due.index);
    case Due::push: return network_.push(due);
    case Due::link_up: return network_.come_up(due);
    case Due::timer: return timer(due.client, due.index);
    case Due::alarm: return alarm(due.client, due.index, due.epoch);
    case Due::cancel: return cancel(due.client, due.index, due.epoch);
    case Due::notice: return notice(due);
    case Due::joint:
      if (client.joints[due.index].steps == due.epoch) joint_step(due.client, due.index);
      return;
    case Due::joint_alarm: return joint_alarm(due.client, due.index, due.epoch);
    case Due::joint_end: return joint_ends(due.client, due.index, due.epoch);
    case Due::step:
      if (client.callers[due.index].steps == due.epoch) step(due.client, due.index);
      return;
  }
}

void Simulation::timer(std::uint32_t client, std::uint32_t key) {
  Client& its = clients_[client];
  Coordinator* coordinator = its.process->find(keys_[key]);
  if (coordinator == nullptr || coordinator->due() > its.clock->now()) return;
  its.process->tick(*coordinator);
  coordinator = its.process->find(keys_[key]);
  if (coordinator != nullptr && coordinator->due() <= its.clock->now()) {
    world_.fail("a tick that changed nothing is due again at once");
  }
}

void Simulation::alarm(std::uint32_t client, std::uint32_t index, std::uint64_t epoch) {
  Client& its = clients_[client];
  Caller& caller = its.callers[index];
  if (epoch != caller.alarms || caller.doing == Caller::Doing::nothing) return;
  its.process->tick(its.process->at(keys_[caller.key]), &*caller.call);
  if (caller.doing == Caller::Doing::nothing) return;
  if (caller.call->wake_at <= its.clock->now()) world_.fail("a caller has to wake again at once");
}

void Simulation::cancel(std::uint32_t client, std::uint32_t index, std::uint64_t epoch) {
  Client& its = clients_[client];
  Caller& caller = its.callers[index];
  if (caller.steps != epoch || caller.doing != Caller::Doing::acquire) return;
  world_.note(client, "cancels", {}, index);
  its.process->handle(
      its.process->at(keys_[caller.key]),
      [&](Coordinator& one, EventContext& context) { one.cancel(*caller.call, context); });
}

// Promise 3: what ends a hold at the store early is noticed at the next check.
void Simulation::notice(const ScheduledEvent& due) {
  const std::uint32_t key = due.index;
  const Watched& watched = judge_.clients[due.client];
  if (due.epoch >> 32 != judge_.books[key].faults) return;  // a later fault has its own notice
  for (const GrantedHold& grip : judge_.books[key].grips) {
    const bool it = grip.client == due.client && grip.number == (due.epoch & 0xFFFF'FFFF);
    if (!it || !judge_.live(grip)) continue;
    const Clock::duration end = judge_.books[key].fault_at + noticed_within(grip);
    if (world_.now < end) {  // a renewal that ran before the fault made the lease longer
      return world_.agenda.enter(end, Due::notice, due.client, key, due.epoch);
    }
    const bool undisturbed = watched.troubled_at < judge_.books[key].fault_at - milliseconds(1'500);
    const HoldId id{clients_[due.client].process->settings().space, grip.number};
    if (undisturbed && !store_->holds(keys_[key], id)) {
      return world_.fail("client " + std::to_string(due.client) + " did not notice that hold " +
                         std::to_string(grip.number) + " was gone");
    }
  }
}

void Simulation::submitted(Process& process, Request& request) {
  const std::uint32_t key = network_.key_index(request.key);
  world_.note(process.number, "asks", to_string(request.verb), request.id.number,
              request.lease.count());
  judge_.submitted(process.number, key, request, process.closed());
  network_.submit(process.number, request);
  // The moment that matters: a process that stops while a renewal is under way.
  const bool stops = !world_.calm && world_.plan.freezes > 0 && request.verb == Verb::renew;
  if (stops && world_.random.percent(2)) freeze(process.number);
}

bool Simulation::answers_at_once(Process& process, Request& request, Outcome& outcome) {
  if (!world_.plan.at_once) return false;
  const std::uint32_t client = process.number;
  const std::uint32_t key = network_.key_index(request.key);
  judge_.submitted(client, key, request, process.closed());
  outcome = network_.answer_at_once(client, request);
  world_.note(client, "at once", to_string(request.verb), request.id.number,
              static_cast<std::int64_t>(outcome.kind));
  applied(client, request, outcome, true);
  judge_.answered(client, key, request, outcome);
  return true;
}

void Simulation::woken(Process& process, Call& call) {
  std::vector<Caller>& callers = clients_[process.number].callers;
  for (std::uint32_t index = 0; index < callers.size(); ++index) {
    Caller& caller = callers[index];
    if (!caller.call || &*caller.call != &call) continue;
    if (caller.doing == Caller::Doing::nothing) return world_.fail("a call was answered twice");
    if (call.answer == Answer::pending) return set_alarm(process.number, index);
    return resolved(process.number, index);
  }
  if (!joint_woken(process.number, call)) world_.fail("a call was answered that is over");
}

void Simulation::told(Process& process, const Event& event) {
  if (event.kind == Event::Kind::lost) ++losses_;
  world_.note(process.number, to_string(event.kind), event.text);
}

void Simulation::before_turn(Process& process, Coordinator& coordinator) {
  const std::uint32_t key = network_.key_index(coordinator.key);
  judge_.before(process.number, key);
  judge_.queue_moves(process.number, key, false);
}

void Simulation::after_turn(Process& process, Coordinator& coordinator) {
  const std::uint32_t key = network_.key_index(coordinator.key);
  judge_.after(process.number, key);
  judge_.queue_moves(process.number, key, queue_rests(process.number, key));
  const Clock::time_point due = coordinator.due();
  if (due == Clock::never() || due == coordinator.due_at) return;
  coordinator.due_at = due;
  const Clock::duration at = clients_[process.number].clock->truth_at(due);
  world_.enter(std::max(at - world_.now, Clock::duration{}), Due::timer, process.number, key);
}

// Calls wait in the local queue and none of them talks to the store.
bool Simulation::queue_rests(std::uint32_t client, std::uint32_t key) const {
  for (const Joint& joint : clients_[client].joints) {
    for (const Joint::Part& part : joint.parts) {
      if (part.key == key && (part.claim != nullptr || part.under_way)) return false;
    }
  }
  bool waiting = false;
  for (const Caller& caller : clients_[client].callers) {
    const bool acquires = caller.doing == Caller::Doing::acquire && caller.key == key;
    if (!acquires || caller.call->type == LockType::FAIR) continue;
    if (caller.call->hold != nullptr) return false;
    waiting = true;
  }
  return waiting;
}

void Simulation::applied(std::uint32_t client, const Request& request, const Outcome& outcome,
                         bool awaited) {
  for (const Member& member : request.members) {
    judge_.applied(client, network_.key_index(member.key), alone(request, member), outcome);
  }
  if (request.verb == Verb::acquire_all) return;
  judge_.applied(client, network_.key_index(request.key), request, outcome);
  const bool gives_back = request.verb == Verb::release || request.verb == Verb::leave;
  const bool carried_out = outcome.kind != Outcome::Kind::unknown;
  if (gives_back && carried_out) {
    look_for_ghost(client, request, "its release was carried out");
  }
  const bool checks = request.verb == Verb::renew || request.verb == Verb::verify;
  if (checks && awaited && outcome.kind == Outcome::Kind::gone) {
    look_for_ghost(client, request, "its holder will be told that it is gone");
  }
}

// A hold that nobody has and that nobody will give back stays for its whole lease.
void Simulation::look_for_ghost(std::uint32_t client, const Request& request,
                                std::string_view when) {
  if (request.id.number == 0 || !store_->names(request.key, request.id)) return;
  world_.fail("the store has client " + std::to_string(client) + " hold " +
              std::to_string(request.id.number) + " yet although " + std::string(when));
}

void Simulation::answered(std::uint32_t client, Request& request, Outcome outcome) {
  if (request.verb == Verb::acquire_all) {
    joint_answered(client, request, outcome);
    return;
  }
  judge_.answered(client, network_.key_index(request.key), request, outcome);
  clients_[client].process->completed(request, std::move(outcome));
}

void Simulation::notified(std::uint32_t client, const Notification& notification) {
  if (clients_[client].frozen_until > world_.now) return;  // link_down, of which the end will tell
  world_.note(client, "hears", {}, notification.id.number,
              static_cast<std::int64_t>(notification.kind));
  clients_[client].process->notified(notification);
}

void Simulation::calm_down() {
  world_.calm = true;
  world_.calm_since = world_.now;
  world_.note(0, "calm");
  store_->end_migrations();
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    clients_[client].frozen_until = std::min(clients_[client].frozen_until, world_.now);
    network_.heal(client);
    if (!world_.random.percent(10)) continue;
    judge_.closes(client);
    clients_[client].process->close();
  }
}

// When all was given back and all leases have passed nothing is left, here or there.
void Simulation::look_for_remains() {
  if (!world_.agenda.empty()) return world_.fail("it does not come to rest");
  for (const Client& client : clients_) {
    for (const Caller& caller : client.callers) {
      if (caller.doing != Caller::Doing::nothing) world_.fail("a call was never answered");
    }
    for (const Joint& joint : client.joints) {
      if (joint.composite) world_.fail("several keys were asked for and never answered");
    }
    if (!client.process->idle()) world_.fail("a coordinator is not idle when all is over");
  }
  world_.now += std::chrono::minutes(1);
  if (store_->left(keys_) != 0) world_.fail("something is left at the store");
}

}  // namespace latchkey::sim
