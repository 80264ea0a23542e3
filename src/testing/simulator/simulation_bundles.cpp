// The simulation's requests for several keys at once.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "testing/simulator/simulation.hpp"

namespace latchkey::sim {

/// What an acquire_all is for one of its members.
Request Simulation::alone(const Request& request, const Member& member) {
  Request one = request;
  one.verb = Verb::acquire;
  one.key = member.key;
  one.type = member.type;
  one.id = member.id;
  one.members = {};
  return one;
}

// As BatchAcquire::ask: a place in every local queue first, all at the same instant.
void Simulation::attempt_all(std::uint32_t client, Joint& joint) {
  joint.asking = true;
  joint.together = std::make_unique<Together>();
  Together& together = *joint.together;
  bool free = true;
  for (Joint::Part& part : joint.parts) {
    part.claim = nullptr;
    if (part.hold != nullptr) continue;
    part.call.reset();
    if (!free) continue;
    joint_call(client, joint, part, Caller::Doing::acquire);
    part.under_way = false;
    if (part.call->answer == Answer::pending) part.claim = part.call->hold;
    free = part.claim != nullptr || part.call->answer == Answer::granted;
    if (part.claim == nullptr) continue;
    together.members.push_back({keys_[part.key], part.type, part.claim->id});
    together.claims.push_back(part.claim);
  }
  Outcome outcome;
  outcome.kind = Outcome::Kind::busy;
  if (!free || together.members.empty()) return tell_all(client, joint, outcome);
  Request& request = together.request;
  request.verb = Verb::acquire_all;
  request.key = together.members.front().key;
  request.members = together.members;
  request.lease = joint.lease.length(world_.plan.settings.watchdog);
  request.sent = clients_[client].clock->now();
  for (const Member& member : together.members) {
    judge_.submitted(client, network_.key_index(member.key), alone(request, member), false);
  }
  world_.note(client, "asks", "acquire_all", together.members.front().id.number);
  if (!world_.plan.at_once) return network_.submit(client, request);
  outcome = network_.answer_at_once(client, request);
  applied(client, request, outcome, true);
  joint_answered(client, request, outcome);
}

void Simulation::joint_answered(std::uint32_t client, const Request& request,
                                const Outcome& outcome) {
  for (const Member& member : request.members) {
    judge_.answered(client, network_.key_index(member.key), alone(request, member), outcome);
  }
  for (Joint& joint : clients_[client].joints) {
    if (!joint.asking || &joint.together->request != &request) continue;
    const auto index = static_cast<std::uint32_t>(&joint - clients_[client].joints.data());
    tell_all(client, joint, outcome);
    return joint_rest(client, index, moment);
  }
  answered_late(client, request, outcome);
}

// As BatchAcquire::Together::came_too_late.
void Simulation::answered_late(std::uint32_t client, const Request& request,
                               const Outcome& outcome) {
  auto& left = clients_[client].left;
  const auto place = std::find_if(left.begin(), left.end(),
                                  [&](const auto& each) { return &each->request == &request; });
  if (place == left.end()) return world_.fail("an answer for several keys that nobody asked for");
  const std::unique_ptr<Together> together = std::move(*place);
  left.erase(place);
  for (RemoteHold* const claim : together->claims) {
    Outcome its;
    its.kind = outcome.kind;
    clients_[client].process->handle(*claim->home, [&](Coordinator& one, EventContext& context) {
      one.completed(claim->ask, its, context);
    });
  }
}

// As BatchAcquire::give_up.
void Simulation::leave_together(std::uint32_t client, Joint& joint) {
  Process& process = *clients_[client].process;
  for (Joint::Part& part : joint.parts) {
    if (std::exchange(part.claim, nullptr) == nullptr) continue;
    process.handle(
        process.at(keys_[part.key]),
        [&](Coordinator& one, EventContext& context) { one.end_wait(*part.call, context); },
        &*part.call);
  }
  clients_[client].left.push_back(std::move(joint.together));
  joint.asking = false;
  joint_rest(client, static_cast<std::uint32_t>(&joint - clients_[client].joints.data()), moment);
}

void Simulation::tell_all(std::uint32_t client, Joint& joint, const Outcome& outcome) {
  Process& process = *clients_[client].process;
  for (Joint::Part& part : joint.parts) {
    RemoteHold* const claim = std::exchange(part.claim, nullptr);
    if (claim == nullptr) continue;
    Outcome its;
    its.kind = outcome.kind;
    if (part.type == LockType::FENCED) its.token = outcome.token;
    process.handle(
        *process.find(keys_[part.key]),
        [&](Coordinator& one, EventContext& context) { one.completed(claim->ask, its, context); },
        &*part.call);
    if (part.call->answer == Answer::pending) world_.fail("one attempt was not the last");
  }
  joint.asking = false;
}

}  // namespace latchkey::sim
