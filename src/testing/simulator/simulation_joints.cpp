// The simulation's callers that take several keys at once.
#include <algorithm>
#include <utility>
#include <vector>

#include "testing/simulator/simulation.hpp"

namespace latchkey::sim {

using detail::MultiAcquirePlan;

void Simulation::joint_rest(std::uint32_t client, std::uint32_t index, Clock::duration length) {
  world_.enter(length, Due::joint, client, index, ++clients_[client].joints[index].steps);
}

// Goes on: what was started has ended, so the composite is told, and says what comes next.
void Simulation::joint_step(std::uint32_t client, std::uint32_t index) {
  Joint& joint = clients_[client].joints[index];
  const auto waits = [&] {
    return joint.asking || std::ranges::any_of(joint.parts, &Joint::Part::under_way);
  };
  if (waits()) return;  // the last answer brings it on
  if (!joint.composite) {
    if (!world_.calm) begin_joint(client, joint);
  } else if (joint.started) {
    finish_joint(client, joint);
  }
  if (!joint.composite || !sound()) return;
  if (joint.composite->step() == MultiAcquirePlan::Step::done) return end_joint(client, index);
  start_joint(client, joint);
  if (!waits()) joint_rest(client, index, moment);
}

void Simulation::begin_joint(std::uint32_t client, Joint& joint) {
  Random& random = world_.random;
  joint.parts.clear();
  while (joint.parts.size() < 2) {
    joint.parts.clear();
    for (std::uint32_t key = 0; key < keys_.size(); ++key) {
      if (random.percent(70)) joint.parts.emplace_back().key = key;
    }
  }
  bool fair = false;
  for (Joint::Part& part : joint.parts) {
    part.type = some_type(part.key);
    fair = fair || part.type == LockType::FAIR;
  }
  joint.lease = random.percent(30) ? Lease(watchdog)
                                   : Lease(random.pick({milliseconds(1'000), milliseconds(5'000)}));
  const Clock::time_point now = clients_[client].clock->now();
  const Wait wait = some_wait();
  joint.until = wait.is_forever() ? Clock::never() : later(now, wait.length());
  Call call;
  call.set_grace(wait.length(), world_.plan.settings.command_timeout);
  joint.grace = call.grace;
  joint.composite.emplace(MultiAcquirePlan::Terms{.members = joint.parts.size(),
                                                  .one_step = !fair && random.percent(60),
                                                  .forever = wait.is_forever(),
                                                  .asked = now,
                                                  .until = joint.until});
  joint.started = false;
  world_.note(client, "asks for several", {}, joint.parts.size(), wait.length().count());
}

void Simulation::joint_call(std::uint32_t client, Joint& joint, Joint::Part& part,
                            Caller::Doing doing) {
  Client& its = clients_[client];
  Call& call = part.call.emplace();
  call.owner = joint.owner;
  call.type = part.type;
  call.lease = joint.lease;
  call.asked = its.clock->now();
  call.bundled = joint.asking;
  if (doing == Caller::Doing::acquire) {
    call.until = call.bundled ? call.asked : joint.composite->until();
    call.forever = call.until == Clock::never();
    call.grace = joint.grace;
  } else if (doing == Caller::Doing::extend) {
    call.until = std::min(call.asked + world_.plan.settings.command_timeout,
                          later(joint.until, joint.grace));
  }
  part.under_way = true;
  part.acquiring = doing == Caller::Doing::acquire;
  its.process->handle(
      its.process->at(keys_[part.key]),
      [&](Coordinator& one, EventContext& context) {
        const milliseconds lease = joint.lease.length(milliseconds(0));
        if (doing == Caller::Doing::acquire) return one.acquire(call, context);
        if (doing == Caller::Doing::extend) return one.extend(*part.hold, lease, call, context);
        one.release(*std::exchange(part.hold, nullptr), part.type, joint.lease.is_watchdog(),
                    Clock::time_point::min(), &call, context);
      },
      &call);
}

void Simulation::start_joint(std::uint32_t client, Joint& joint) {
  joint.started = true;
  const bool asks = joint.composite->step() == MultiAcquirePlan::Step::attempt;
  const auto end = later(asks ? joint.composite->until() : joint.until, joint.grace);
  if (end != Clock::never()) {
    const auto index = static_cast<std::uint32_t>(&joint - clients_[client].joints.data());
    const Clock::duration at = clients_[client].clock->truth_at(end);
    world_.enter(std::max<Clock::duration>(at - world_.now, 2 * moment), Due::joint_end, client,
                 index, ++joint.ends);
  }
  switch (joint.composite->step()) {
    case MultiAcquirePlan::Step::attempt: return attempt_all(client, joint);
    case MultiAcquirePlan::Step::await:
      return joint_call(client, joint, joint.parts[joint.composite->member()],
                        Caller::Doing::acquire);
    case MultiAcquirePlan::Step::fill:
      for (Joint::Part& part : joint.parts) {
        part.call.reset();
        if (joint.lease.is_watchdog()) continue;
        joint_call(client, joint, part, Caller::Doing::extend);
      }
      return;
    case MultiAcquirePlan::Step::give_back:
      for (Joint::Part& part : joint.parts) {
        part.call.reset();
        if (part.hold == nullptr) continue;
        unpin(client, joint, part);
        std::erase_if(judge_.books[part.key].grips, [&](const GrantedHold& grip) {
          return grip.client == client && grip.owner == joint.owner.number();
        });
        joint_call(client, joint, part, Caller::Doing::release);
      }
      return;
    case MultiAcquirePlan::Step::done: return;
  }
}

void Simulation::joint_granted(std::uint32_t client, Joint& joint, Joint::Part& part, bool kept) {
  part.acquiring = false;
  part.hold = part.call->hold;
  part.kept = kept;
  if (kept) Coordinator::pin(*part.hold);
  GrantedHold grip;
  grip.client = client;
  grip.caller = grip_number(static_cast<std::uint32_t>(&joint - clients_[client].joints.data()));
  grip.owner = joint.owner.number();
  grip.hold = part.hold;
  grip.number = part.hold->id.number;
  grip.type = part.type;
  grip.watched = joint.lease.is_watchdog();
  grip.kept = kept;
  judge_.granted(part.key, grip);
}

void Simulation::unpin(std::uint32_t client, Joint& joint, Joint::Part& part) {
  if (!std::exchange(part.kept, false)) return;
  Coordinator::unpin(*part.hold);
  for (GrantedHold& grip : judge_.books[part.key].grips) {
    if (grip.client == client && grip.owner == joint.owner.number()) grip.kept = false;
  }
}

void Simulation::finish_joint(std::uint32_t client, Joint& joint) {
  joint.started = false;
  MultiAcquirePlan& composite = *joint.composite;
  const Clock::time_point now = clients_[client].clock->now();
  Answer answer = Answer::granted;
  std::size_t member = 0;
  switch (composite.step()) {
    case MultiAcquirePlan::Step::attempt:
      for (std::size_t index = joint.parts.size(); index-- > 0;) {
        Joint::Part& part = joint.parts[index];
        if (part.hold != nullptr || !part.call || part.call->answer == Answer::pending) continue;
        answer = part.call->answer;
        member = index;
      }
      return composite.attempted(answer, member, now);
    case MultiAcquirePlan::Step::await: {
      const bool lost = std::ranges::any_of(joint.parts, [&](const Joint::Part& each) {
        return each.hold != nullptr && each.hold->is_lost(now);
      });
      return composite.awaited(joint.parts[composite.member()].call->answer, lost, now);
    }
    case MultiAcquirePlan::Step::fill:
      for (std::size_t index = joint.parts.size(); index-- > 0;) {
        Joint::Part& part = joint.parts[index];
        const Answer its = part.hold->is_lost(now) ? Answer::lost
                           : part.call             ? part.call->answer
                                                   : Answer::granted;
        if (its == Answer::granted) continue;
        answer = its;
        member = index;
      }
      return composite.filled(answer, member, now);
    case MultiAcquirePlan::Step::give_back: return composite.given_back();
    case MultiAcquirePlan::Step::done: return;
  }
}

// All are held, and given back after a while; or none is.
void Simulation::end_joint(std::uint32_t client, std::uint32_t index) {
  Joint& joint = clients_[client].joints[index];
  const bool granted = joint.composite->answer() == Answer::granted;
  world_.note(client, "has several", {}, index, granted ? 1 : 0);
  if (joint.until != Clock::never()) judge_.waited(client, joint.until, joint.grace);
  const bool held = std::ranges::any_of(
      joint.parts, [](const Joint::Part& part) { return part.hold != nullptr; });
  if (granted != held) return world_.fail("several keys were granted in part");
  if (!granted) {
    joint.composite.reset();
    return joint_rest(client, index, world_.random.between({}, milliseconds(50)));
  }
  ++grants_;
  for (Joint::Part& part : joint.parts) {
    if (part.hold->is_lost(clients_[client].clock->now())) {
      return world_.fail("several keys were granted of which one was lost");
    }
    unpin(client, joint, part);
  }
  joint.until = Clock::never();
  // A composite of nothing, which knows what is left to do: give back.
  joint.composite.emplace(MultiAcquirePlan::Terms{.members = joint.parts.size()});
  joint.composite->awaited(Answer::closed, false, clients_[client].clock->now());
  joint_rest(client, index, world_.random.between({}, milliseconds(200)));
}

bool Simulation::joint_woken(std::uint32_t client, const Call& call) {
  std::vector<Joint>& joints = clients_[client].joints;
  for (std::uint32_t index = 0; index < joints.size(); ++index) {
    for (std::size_t at = 0; at < joints[index].parts.size(); ++at) {
      Joint::Part& part = joints[index].parts[at];
      if (!part.call || &*part.call != &call) continue;
      if (part.acquiring && call.answer == Answer::granted) {
        joint_granted(client, joints[index], part, !joints[index].asking);
      }
      if (joints[index].asking) return true;  // the request for all of them brings it on
      ++part.alarms;
      if (call.answer == Answer::pending) {
        if (call.wake_at == Clock::never()) return true;
        const Clock::duration due = clients_[client].clock->truth_at(call.wake_at);
        world_.enter(std::max(due - world_.now, Clock::duration{}), Due::joint_alarm, client,
                     index * 16 + static_cast<std::uint32_t>(at), part.alarms);
        return true;
      }
      part.under_way = false;
      const auto& parts = joints[index].parts;
      if (std::ranges::none_of(parts, &Joint::Part::under_way)) joint_rest(client, index, moment);
      return true;
    }
  }
  return false;
}

// What is asked for together is left, and so are releases. Each other call ends by itself.
void Simulation::joint_ends(std::uint32_t client, std::uint32_t index, std::uint64_t epoch) {
  Joint& joint = clients_[client].joints[index];
  if (epoch != joint.ends || !joint.started) return;
  if (joint.asking) return leave_together(client, joint);
  if (joint.composite->step() != MultiAcquirePlan::Step::give_back) return;
  Process& process = *clients_[client].process;
  for (Joint::Part& part : joint.parts) {
    if (!std::exchange(part.under_way, false)) continue;
    ++part.alarms;
    process.handle(process.at(keys_[part.key]), [&](Coordinator& one, EventContext& context) {
      one.leave(*part.call, context);
    });
  }
  joint_rest(client, index, moment);
}

void Simulation::joint_alarm(std::uint32_t client, std::uint32_t index, std::uint64_t epoch) {
  std::deque<Joint::Part>& parts = clients_[client].joints[index / 16].parts;
  if (index % 16 >= parts.size()) return;
  Joint::Part& part = parts[index % 16];
  if (epoch != part.alarms || !part.under_way) return;
  Process& process = *clients_[client].process;
  process.tick(process.at(keys_[part.key]), &*part.call);
}

// The process is no more: its claims are never answered, and nobody goes on.
void Simulation::bury_joints(std::uint32_t client) {
  for (Joint& joint : clients_[client].joints) {
    ++joint.steps;
    for (Joint::Part& part : joint.parts) {
      ++part.alarms;
      part.under_way = false;
      RemoteHold* const claim = std::exchange(part.claim, nullptr);
      if (claim != nullptr) clients_[client].process->abandon(*claim);
      part.hold = nullptr;  // the judge's books have it
    }
    joint.asking = joint.started = false;
    joint.composite.reset();
  }
  for (const auto& each : std::exchange(clients_[client].left, {})) {
    for (RemoteHold* const claim : each->claims) clients_[client].process->abandon(*claim);
  }
}

}  // namespace latchkey::sim
