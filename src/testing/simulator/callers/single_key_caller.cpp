// The operations of a caller of one key.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/callers/single_key_caller.hpp"

#include <algorithm>
#include <utility>

#include "testing/simulator/callers/caller_context.hpp"

namespace latchkey::inline v1::sim {

void SingleKeyCaller::rest(Clock::duration length) {
  context_.world.schedule_in(length, Due::caller_step, context_.client, index_, ++step_epoch_);
}

void SingleKeyCaller::step(std::uint64_t epoch) {
  if (epoch != step_epoch_) return;
  std::vector<GrantedHold> mine = holds_of_owner();
  std::erase_if(mine, [&](const GrantedHold& hold) { return hold.caller != index_; });
  if (!mine.empty()) return context_.world.scenario.contended ? release(mine.back()) : use(mine);
  if (!context_.world.faults_stopped) acquire_any();
}

void SingleKeyCaller::acquire_any() {
  World& world = context_.world;
  key_ = static_cast<std::uint32_t>(world.random.below(world.keys.size()));
  const bool by_lock = world.random.percent(30);
  acquire(pick_type(world, key_), by_lock);
}

void SingleKeyCaller::use(const std::vector<GrantedHold>& mine) {
  World& world = context_.world;
  Random& random = world.random;
  const GrantedHold& one = mine[random.below(mine.size())];
  const bool in_doubt = std::exchange(release_unconfirmed_, false);
  if (in_doubt && !world.faults_stopped && !one.by_lock && random.percent(80)) {
    return extend(one);  // checks whether it still has the others
  }
  const std::uint64_t die = world.faults_stopped ? 99 : random.below(100);
  if (die < 20) return rest(random.between({}, milliseconds(40)));
  if (die < 25 && world.scenario.holds_longer_than_leases) {
    return rest(random.between({}, milliseconds(2'500)));
  }
  if (die < 40 && mine.size() < 4) {
    LockType type = one.type;
    if (type == LockType::WRITE && random.percent(50)) type = LockType::READ;
    if (random.percent(5)) type = pick_type(world, key_);
    return acquire(type, random.percent(30));
  }
  if (die < 50 && !one.by_lock) return extend(one);
  if (die < 52 && !world.scenario.shares_owners) return end_thread();
  release(one);
}

Call& SingleKeyCaller::new_call(Operation operation) {
  Call& call = call_.emplace();
  operation_ = operation;
  ++step_epoch_;
  call.owner = owner_;
  call.asked = context_.clock.now();
  return call;
}

void SingleKeyCaller::acquire(LockType type, bool by_lock) {
  World& world = context_.world;
  if (type == LockType::PERMIT) by_lock = false;
  Call& call = new_call(Operation::acquire);
  const bool contends = world.scenario.contended;
  const bool is_patient = contends || (by_lock && world.random.percent(50));
  Wait wait = is_patient ? Wait(forever) : pick_wait(world.random);
  // Callers that hold permits and wait for those of one another would wait for ever.
  if (type == LockType::PERMIT && !holds_of_owner().empty()) {
    wait = std::min(wait.length(), milliseconds(4'000));
  }
  call.type = type;
  call.lease = by_lock || contends ? Lease(watchdog) : pick_lease(world.random);
  if (!by_lock) call.lease = pick_options(world, pick_limit(world, call.lease));
  call.fenced = !by_lock && pick_token(world, type);
  call.by_lock = by_lock;
  if (type == LockType::PERMIT) {  // each acquire is on its own
    call.owner = Owner::make();
    call.permits = {world.random.percent(80) ? 1U : 2U, Scenario::permits};
  }
  call.reentry = world.random.percent(3) ? Reentry::refuse : Reentry::count;
  call.forever = wait.is_forever();
  call.grace = Call::grace_of(wait.length(), world.scenario.settings.command_timeout);
  call.until = call.forever ? Clock::never() : later(call.asked, wait.length());
  context_.note(by_lock ? "locks" : "acquires", to_string(type), index_, wait.length().count());
  context_.history.starts_waiting(key_, {context_.client, index_, world.now});
  context_.holds.asked(key_, context_.client, call.owner, call.lease.length({}));
  context_.handle(
      key_, [&](Coordinator& its, EventContext& context) { its.acquire(call, context); }, &call);
  if (idle() || contends || !world.random.percent(10)) return;
  world.schedule_in(world.random.between({}, milliseconds(600)), Due::caller_cancel,
                    context_.client, index_, step_epoch_);
}

void SingleKeyCaller::extend(const GrantedHold& hold) {
  World& world = context_.world;
  Call& call = new_call(Operation::extend);
  may_be_lost_ = !hold.by_watchdog || has_limit();
  call.until = call.asked + world.scenario.settings.command_timeout;
  const milliseconds lease =
      world.random.pick({milliseconds(50), milliseconds(500), milliseconds(3'000)});
  context_.note("extends", {}, hold.number, lease.count());
  context_.holds.asked(key_, context_.client, owner_, lease);
  observed_ = true;
  context_.holds.called(key_, hold, false);
  context_.handle(
      key_,
      [&](Coordinator& its, EventContext& context) {
        its.extend(*hold.hold, lease, call, context);
      },
      &call);
}

void SingleKeyCaller::release(const GrantedHold& chosen) {
  World& world = context_.world;
  may_be_lost_ = !chosen.by_watchdog || has_limit();
  const GrantedHold hold = remove(chosen.by_lock ? last_locked(chosen) : chosen);
  Call& call = new_call(Operation::release);
  call.type = hold.type;
  context_.note(hold.by_lock ? "unlocks" : "releases", to_string(hold.type), hold.number);
  Clock::time_point retain_until = Clock::time_point::min();
  const bool contends = world.scenario.contended;
  if (!hold.by_lock && !contends && !world.faults_stopped && world.random.percent(15)) {
    retain_until = context_.clock.now() + world.random.between({}, milliseconds(300));
    context_.holds.retained(key_, hold, retain_until);
  }
  const bool waits = hold.by_lock || contends || world.random.percent(80);
  Call* const waiting = waits ? &call : nullptr;
  observed_ = waits && !hold.by_lock;
  if (observed_) {
    context_.holds.called(key_, hold, true);
  } else {
    context_.holds.dropped(key_, hold);
  }
  context_.handle(
      key_,
      [&](Coordinator& its, EventContext& context) {
        if (hold.by_lock) return its.unlock(call, context);
        its.release(*hold.hold, hold.type, hold.by_watchdog, retain_until, waiting, context,
                    hold.limit);
      },
      waiting);
  if (waits) return;
  operation_ = Operation::none;
  rest(world.random.between({}, milliseconds(5)));
}

/// unlock() counts per owner: what was locked last is unlocked first. A READ that joins a hold has
/// that one's number, which may be less than that of a hold that the owner has lost.
GrantedHold SingleKeyCaller::last_locked(const GrantedHold& like) const {
  GrantedHold last = like;
  for (const GrantedHold& other : holds_of_owner()) {
    if (other.by_lock && is_shared(other.type) == is_shared(last.type)) last = other;
  }
  return last;
}

void SingleKeyCaller::end_thread() {
  context_.note("thread ends", {}, index_);
  for (const GrantedHold& hold : holds_of_owner()) {
    if (!hold.by_lock) continue;
    auto& holds = context_.history.keys[key_].holds;
    const auto place = std::ranges::find_if(holds, [&](const GrantedHold& other) {
      return other.shares_id_with(hold) && other.owner == hold.owner && other.by_lock;
    });
    context_.holds.dropped(key_, *place);
    holds.erase(place);
    context_.holds.retained(key_, hold, hold.hold->deadline_point());
  }
  context_.handle(
      key_, [&](Coordinator& its, EventContext& context) { its.owner_ended(owner_, context); });
  // Another thread continues with the Hold objects.
  rest(context_.world.random.between({}, milliseconds(50)));
}

void SingleKeyCaller::timer(std::uint64_t epoch) {
  if (epoch != timer_epoch_ || idle()) return;
  Process& process = *context_.process;
  process.tick(process.at(context_.world.keys[key_]), &*call_);
  if (idle()) return;
  if (call_->wake_at <= context_.clock.now()) {
    context_.world.fail("a caller has to wake again at once");
  }
}

void SingleKeyCaller::cancel(std::uint64_t epoch) {
  if (epoch != step_epoch_ || operation_ != Operation::acquire) return;
  context_.note("cancels", {}, index_);
  context_.handle(key_,
                  [&](Coordinator& its, EventContext& context) { its.cancel(*call_, context); });
}

bool SingleKeyCaller::woken(const Call& call) {
  if (!call_ || &*call_ != &call) return false;
  if (idle()) {
    context_.world.fail("a call was answered twice");
  } else if (call.answer == Answer::pending) {
    set_timer();
  } else {
    answered();
  }
  return true;
}

void SingleKeyCaller::set_timer() {
  ++timer_epoch_;
  if (call_->wake_at == Clock::never()) return;
  context_.schedule_at(call_->wake_at, Due::caller_timer, index_, timer_epoch_);
}

void SingleKeyCaller::answered() {
  World& world = context_.world;
  const Call& call = *call_;
  const Operation done = std::exchange(operation_, Operation::none);
  const bool granted = call.answer == Answer::granted;
  ++timer_epoch_;
  context_.note("answered", {}, index_, static_cast<std::int64_t>(call.answer));
  if (done == Operation::acquire) {
    context_.history.stops_waiting(key_, context_.client, index_);
    if (!call.forever) context_.holds.waited(context_.client, call.until, call.grace);
    if (granted) record_grant();
  } else {
    if (std::exchange(observed_, false)) {
      context_.holds.told(key_, context_.client, index_, granted);
    }
    const bool explained = may_be_lost_ || granted || context_.process->closed();
    if (world.scenario.fault_free && !explained) {
      world.fail("an answer that a good network does not explain");
    }
  }
  release_unconfirmed_ = done == Operation::release && call.answer == Answer::unavailable;
  const bool hurried = world.scenario.contended || world.scenario.hurried;
  Clock::duration longest = milliseconds(hurried ? 1 : 20);
  // Others come to an idle hold only if they were away for a while.
  const bool leaves = world.scenario.settings.cache.count() != 0 && world.idle_choices.percent(10);
  if (leaves) longest = std::chrono::seconds(3);
  rest(world.random.between({}, longest));
}

void SingleKeyCaller::record_grant() {
  ++context_.grants;
  GrantedHold hold;
  hold.client = context_.client;
  hold.caller = index_;
  hold.owner = owner_.number();
  hold.hold = call_->hold;
  hold.number = call_->hold->id.number;
  hold.type = call_->type;
  hold.by_lock = call_->by_lock;
  if (hold.type == LockType::PERMIT) hold.permits = call_->permits.taken;
  hold.by_watchdog = call_->lease.is_watchdog();
  hold.fenced = call_->wants_token();
  hold.asked = call_->lease.length({});
  hold.delay = call_->lease.lock_delay();
  hold.limit = call_->limit_number();
  if (hold.limit != 0) hold.limit_end = context_.clock.now() + call_->lease.held_at_most();
  hold.is_first = call_->hold->local_holds() == 1;
  context_.holds.granted(key_, hold);
  context_.turns.granted(key_, hold);
}

void SingleKeyCaller::stop() noexcept {
  ++step_epoch_;
  ++timer_epoch_;
  operation_ = Operation::none;
  observed_ = false;
}

bool SingleKeyCaller::acquires(std::uint32_t key) const noexcept {
  return operation_ == Operation::acquire && key_ == key && call_->type != LockType::FAIR;
}

std::vector<GrantedHold> SingleKeyCaller::holds_of_owner() const {
  std::vector<GrantedHold> mine;
  for (const GrantedHold& hold : context_.history.keys[key_].holds) {
    if (hold.client == context_.client && hold.owner == owner_.number()) mine.push_back(hold);
  }
  return mine;
}

GrantedHold SingleKeyCaller::remove(const GrantedHold& hold) {
  auto& holds = context_.history.keys[key_].holds;
  const auto place = std::ranges::find_if(holds, [&](const GrantedHold& other) {
    return other.shares_id_with(hold) && other.caller == hold.caller && other.type == hold.type &&
           other.by_lock == hold.by_lock && other.by_watchdog == hold.by_watchdog &&
           other.limit == hold.limit;
  });
  const GrantedHold removed = *place;
  holds.erase(place);
  return removed;
}

bool SingleKeyCaller::has_limit() const {
  return std::ranges::any_of(holds_of_owner(),
                             [](const GrantedHold& hold) { return hold.may_end_by_limit; });
}

}  // namespace latchkey::inline v1::sim
