// The simulation's requests for several keys at once.
#include <utility>

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

// As OneStep::ask: a place in every local queue first, all at the same instant.
void Simulation::attempt_all(std::uint32_t client, Joint& joint) {
  joint.asking = true;
  joint.members.clear();
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
    joint.members.push_back({keys_[part.key], part.type, part.claim->id});
  }
  Outcome outcome;
  outcome.kind = Outcome::Kind::busy;
  if (!free || joint.members.empty()) return tell_all(client, joint, outcome);
  joint.together = Request{};
  joint.together.verb = Verb::acquire_all;
  joint.together.key = joint.members.front().key;
  joint.together.members = joint.members;
  joint.together.lease = joint.lease.length(world_.plan.settings.watchdog);
  joint.together.sent = clients_[client].clock->now();
  for (const Member& member : joint.members) {
    judge_.submitted(client, network_.key_index(member.key), alone(joint.together, member), false);
  }
  world_.note(client, "asks", "acquire_all", joint.members.front().id.number);
  if (!world_.plan.at_once) return network_.submit(client, joint.together);
  outcome = network_.answer_at_once(client, joint.together);
  applied(client, joint.together, outcome);
  joint_answered(client, joint.together, outcome);
}

bool Simulation::joint_answered(std::uint32_t client, const Request& request,
                                const Outcome& outcome) {
  for (Joint& joint : clients_[client].joints) {
    if (&joint.together != &request) continue;
    for (const Member& member : request.members) {
      judge_.answered(client, network_.key_index(member.key), alone(request, member), outcome);
    }
    const auto index = static_cast<std::uint32_t>(&joint - clients_[client].joints.data());
    tell_all(client, joint, outcome);
    joint_rest(client, index, moment);
    return true;
  }
  return false;
}

void Simulation::tell_all(std::uint32_t client, Joint& joint, const Outcome& outcome) {
  Process& process = *clients_[client].process;
  for (Joint::Part& part : joint.parts) {
    RemoteHold* const claim = std::exchange(part.claim, nullptr);
    if (claim == nullptr) continue;
    Outcome its;
    its.kind = outcome.kind;
    if (part.type == LockType::FENCED) its.token = outcome.token;
    process.turn(
        *process.find(keys_[part.key]),
        [&](Coordinator& one, Turn& turn) { one.completed(claim->ask, its, turn); }, &*part.call);
    if (part.call->answer == Answer::pending) world_.fail("one attempt was not the last");
  }
  joint.asking = false;
}

}  // namespace latchkey::sim
