// The simulation's callers: what the threads of a client do with their locks.
#include <algorithm>
#include <utility>
#include <vector>

#include "testing/simulator/simulation.hpp"

namespace latchkey::sim {

std::vector<GrantedHold> Simulation::grips_of(std::uint32_t client, const Caller& caller) const {
  std::vector<GrantedHold> mine;
  for (const GrantedHold& grip : judge_.books[caller.key].grips) {
    if (grip.client == client && grip.owner == caller.owner.number()) mine.push_back(grip);
  }
  return mine;
}

void Simulation::rest(std::uint32_t client, std::uint32_t index, Clock::duration length) {
  world_.enter(length, Due::step, client, index, ++clients_[client].callers[index].steps);
}

void Simulation::step(std::uint32_t client, std::uint32_t index) {
  const Caller& caller = clients_[client].callers[index];
  std::vector<GrantedHold> mine = grips_of(client, caller);
  std::erase_if(mine, [&](const GrantedHold& grip) { return grip.caller != index; });
  if (!mine.empty()) return go_on(client, index, std::move(mine));
  if (!world_.calm) begin(client, index);
}

void Simulation::begin(std::uint32_t client, std::uint32_t index) {
  Caller& caller = clients_[client].callers[index];
  caller.key = static_cast<std::uint32_t>(world_.random.below(keys_.size()));
  acquire(client, index, some_type(caller.key), world_.random.percent(30));
}

void Simulation::go_on(std::uint32_t client, std::uint32_t index, std::vector<GrantedHold> mine) {
  Random& random = world_.random;
  const GrantedHold& one = mine[random.below(mine.size())];
  const bool doubts = std::exchange(clients_[client].callers[index].doubts, false);
  if (doubts && !world_.calm && !one.by_lock && random.percent(80)) {
    return extend(client, index, one);  // it looks whether it has what is left
  }
  const std::uint64_t die = world_.calm ? 99 : random.below(100);
  if (die < 20) return rest(client, index, random.between({}, milliseconds(40)));
  if (die < 25 && world_.plan.pauses) {
    return rest(client, index, random.between({}, milliseconds(2'500)));
  }
  if (die < 40 && mine.size() < 4) {
    LockType type = one.type;
    if (type == LockType::WRITE && random.percent(50)) type = LockType::READ;
    if (random.percent(5)) type = some_type(clients_[client].callers[index].key);
    return acquire(client, index, type, random.percent(30));
  }
  if (die < 50 && !one.by_lock) return extend(client, index, one);
  if (die < 52 && !world_.plan.shares_owners) return end_thread(client, index);
  release(client, index, one);
}

LockType Simulation::some_type(std::uint32_t key) {
  using enum LockType;
  switch (world_.plan.keys[key]) {
    case Plan::Family::reentrant: return REENTRANT;
    case Plan::Family::fair: return FAIR;
    case Plan::Family::fenced: return FENCED;
    case Plan::Family::plain: return world_.random.pick({REENTRANT, FAIR, FENCED});
    case Plan::Family::read_write: return world_.random.pick({READ, READ, WRITE});
  }
  return REENTRANT;
}

Lease Simulation::some_lease() {
  if (world_.random.percent(40)) return watchdog;
  return world_.random.pick(
      {milliseconds(30), milliseconds(200), milliseconds(1'000), milliseconds(5'000)});
}

Wait Simulation::some_wait() {
  if (world_.random.percent(15)) return forever;
  return world_.random.pick(
      {milliseconds(0), milliseconds(0), milliseconds(50), milliseconds(500), milliseconds(4'000)});
}

Call& Simulation::fresh_call(Caller& caller, Caller::Doing doing, Clock::time_point now) {
  Call& call = caller.call.emplace();
  caller.doing = doing;
  ++caller.steps;
  call.owner = caller.owner;
  call.asked = now;
  return call;
}

void Simulation::acquire(std::uint32_t client, std::uint32_t index, LockType type, bool by_lock) {
  Client& its = clients_[client];
  Caller& caller = its.callers[index];
  Call& call = fresh_call(caller, Caller::Doing::acquire, its.clock->now());
  const Wait wait = by_lock && world_.random.percent(50) ? Wait(forever) : some_wait();
  call.type = type;
  call.lease = by_lock ? Lease(watchdog) : some_lease();
  call.by_lock = by_lock;
  call.reentry = world_.random.percent(3) ? Reentry::refuse : Reentry::count;
  call.forever = wait.is_forever();
  call.set_grace(wait.length(), world_.plan.settings.command_timeout);
  call.until = call.forever ? Clock::never() : later(call.asked, wait.length());
  world_.note(client, by_lock ? "locks" : "acquires", to_string(type), index,
              wait.length().count());
  judge_.waits(caller.key, client, index);
  its.process->handle(
      its.process->at(keys_[caller.key]),
      [&](Coordinator& one, EventContext& context) { one.acquire(call, context); }, &call);
  if (caller.doing == Caller::Doing::nothing) return;
  if (world_.random.percent(10)) {
    world_.enter(world_.random.between({}, milliseconds(600)), Due::cancel, client, index,
                 caller.steps);
  }
}

void Simulation::extend(std::uint32_t client, std::uint32_t index, const GrantedHold& grip) {
  Client& its = clients_[client];
  Caller& caller = its.callers[index];
  Call& call = fresh_call(caller, Caller::Doing::extend, its.clock->now());
  caller.excused = !grip.watched;
  call.until = call.asked + world_.plan.settings.command_timeout;
  const milliseconds lease =
      world_.random.pick({milliseconds(50), milliseconds(500), milliseconds(3'000)});
  world_.note(client, "extends", {}, grip.number, lease.count());
  its.process->handle(
      its.process->at(keys_[caller.key]),
      [&](Coordinator& one, EventContext& context) {
        one.extend(*grip.hold, lease, call, context);
      },
      &call);
}

void Simulation::release(std::uint32_t client, std::uint32_t index, GrantedHold grip) {
  Client& its = clients_[client];
  Caller& caller = its.callers[index];
  auto& grips = judge_.books[caller.key].grips;
  if (grip.by_lock) {
    // unlock() counts per owner; what was taken last is undone first.
    for (const GrantedHold& other : grips_of(client, caller)) {
      const bool like = other.by_lock && is_shared(other.type) == is_shared(grip.type);
      if (like && other.number > grip.number) grip = other;
    }
  }
  const auto place = std::find_if(grips.begin(), grips.end(), [&](const GrantedHold& other) {
    return other.client == client && other.caller == grip.caller && other.number == grip.number &&
           other.type == grip.type && other.by_lock == grip.by_lock &&
           other.watched == grip.watched;
  });
  grips.erase(place);
  Call& call = fresh_call(caller, Caller::Doing::release, its.clock->now());
  call.type = grip.type;
  caller.excused = !grip.watched;
  world_.note(client, grip.by_lock ? "unlocks" : "releases", to_string(grip.type), grip.number);
  Clock::time_point keep = Clock::time_point::min();
  if (!grip.by_lock && !world_.calm && world_.random.percent(15)) {
    keep = its.clock->now() + world_.random.between({}, milliseconds(300));
    judge_.keeps(caller.key, grip, keep);
  }
  const bool waits = grip.by_lock || world_.random.percent(80);
  its.process->handle(
      its.process->at(keys_[caller.key]),
      [&](Coordinator& one, EventContext& context) {
        if (grip.by_lock) return one.unlock(call, context);
        one.release(*grip.hold, grip.type, grip.watched, keep, waits ? &call : nullptr, context);
      },
      waits ? &call : nullptr);
  if (!waits) {
    caller.doing = Caller::Doing::nothing;
    rest(client, index, world_.random.between({}, milliseconds(5)));
  }
}

void Simulation::end_thread(std::uint32_t client, std::uint32_t index) {
  Client& its = clients_[client];
  Caller& caller = its.callers[index];
  world_.note(client, "its thread ends", {}, index);
  for (const GrantedHold& grip : grips_of(client, caller)) {
    auto& grips = judge_.books[caller.key].grips;
    if (!grip.by_lock) continue;
    grips.erase(std::find_if(grips.begin(), grips.end(), [&](const GrantedHold& other) {
      return other.client == client && other.number == grip.number && other.by_lock;
    }));
    judge_.keeps(caller.key, grip, grip.hold->deadline_point());
  }
  its.process->handle(
      its.process->at(keys_[caller.key]),
      [&](Coordinator& one, EventContext& context) { one.owner_ended(caller.owner, context); });
  // What it held as Hold objects goes on in other hands.
  rest(client, index, world_.random.between({}, milliseconds(50)));
}

void Simulation::set_alarm(std::uint32_t client, std::uint32_t index) {
  Client& its = clients_[client];
  Caller& caller = its.callers[index];
  ++caller.alarms;
  if (caller.call->wake_at == Clock::never()) return;
  const Clock::duration at = its.clock->truth_at(caller.call->wake_at);
  world_.enter(std::max(at - world_.now, Clock::duration{}), Due::alarm, client, index,
               caller.alarms);
}

void Simulation::resolved(std::uint32_t client, std::uint32_t index) {
  Caller& caller = clients_[client].callers[index];
  const Call& call = *caller.call;
  const Caller::Doing done = std::exchange(caller.doing, Caller::Doing::nothing);
  ++caller.alarms;
  world_.note(client, "is told", {}, index, static_cast<std::int64_t>(call.answer));
  if (done == Caller::Doing::acquire) {
    judge_.waits_no_more(caller.key, client, index);
    if (!call.forever) judge_.waited(client, call.until, call.grace);
    if (call.answer == Answer::granted) grip(client, index);
  }
  caller.doubts = done == Caller::Doing::release && call.answer == Answer::unavailable;
  const bool ends = done != Caller::Doing::acquire;
  if (ends && world_.plan.good && !caller.excused && call.answer != Answer::granted &&
      !clients_[client].process->closed()) {
    world_.fail("an answer that a good network does not explain");
  }
  rest(client, index, world_.random.between({}, milliseconds(20)));
}

void Simulation::grip(std::uint32_t client, std::uint32_t index) {
  const Caller& caller = clients_[client].callers[index];
  const Call& call = *caller.call;
  ++grants_;
  GrantedHold grip;
  grip.client = client;
  grip.caller = index;
  grip.owner = caller.owner.number();
  grip.hold = call.hold;
  grip.number = call.hold->id.number;
  grip.type = call.type;
  grip.by_lock = call.by_lock;
  grip.watched = call.lease.is_watchdog();
  judge_.granted(caller.key, grip);
}

}  // namespace latchkey::sim
