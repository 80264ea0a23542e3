// The life of a simulated client, and the events of its coordinators.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/client.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v1::sim {

Client::Client(const Environment& environment, std::uint32_t number)
    : context_(environment, number, random_drift(environment.world)) {
  const Scenario& scenario = context_.world.scenario;
  context_.history.clients[number].clock = &context_.clock;
  start_process(1);
  const std::uint32_t callers = scenario.is_foreign(number) ? 1 : scenario.callers;
  for (std::uint32_t index = 0; index < callers; ++index) {
    const bool shares = scenario.shares_owners && index % 2 == 1;
    callers_.emplace_back(context_, index, shares ? callers_.back().owner() : Owner::make());
  }
  for (std::uint32_t index = 0; index < (scenario.multi_key ? 2U : 0U); ++index) {
    multi_callers_.emplace_back(context_, index, Owner::make());
  }
  rest_all({}, milliseconds(20));
}

std::int64_t Client::random_drift(World& world) {
  const auto most = static_cast<std::uint64_t>(world.scenario.drift);
  return static_cast<std::int64_t>(world.random.below(2 * most + 1)) - world.scenario.drift;
}

void Client::start_process(std::uint64_t first_id) {
  CoordinatorSettings settings = context_.world.scenario.settings;
  settings.space = {++context_.world.processes, context_.client};
  if (context_.world.scenario.is_foreign(context_.client)) {
    settings.grants = false;
    settings.cohort = settings.cache = milliseconds(0);
  }
  context_.network.replace_process(context_.client, settings.space);
  context_.process = std::make_unique<Process>(context_.client, context_.clock, settings,
                                               context_.world.random.next(), host(), first_id);
}

void Client::rest_all(Clock::duration least, Clock::duration most) {
  for (SingleKeyCaller& caller : callers_) caller.rest(context_.world.random.between(least, most));
  for (MultiKeyCaller& caller : multi_callers_) {
    caller.rest(context_.world.random.between(least, most));
  }
}

void Client::handle(const ScheduledEvent& event) {
  const auto callers_timer = [&] { return MultiKeyCaller::caller_of(event.index); };
  switch (event.due) {
    case Due::coordinator_timer: return coordinator_timer(event.index);
    case Due::caller_step: return callers_[event.index].step(event.epoch);
    case Due::caller_timer: return callers_[event.index].timer(event.epoch);
    case Due::caller_cancel: return callers_[event.index].cancel(event.epoch);
    case Due::multi_step: return multi_callers_[event.index].step(event.epoch);
    case Due::multi_deadline: return multi_callers_[event.index].deadline(event.epoch);
    case Due::multi_cancel: return multi_callers_[event.index].cancel(event.epoch);
    case Due::multi_timer: return multi_callers_[callers_timer()].timer(event.index, event.epoch);
    default: return;
  }
}

void Client::coordinator_timer(std::uint32_t key) {
  Process& process = *context_.process;
  Coordinator* coordinator = process.find(context_.world.keys[key]);
  if (coordinator == nullptr || coordinator->due() > context_.clock.now()) return;
  process.tick(*coordinator);
  coordinator = process.find(context_.world.keys[key]);
  if (coordinator != nullptr && coordinator->due() <= context_.clock.now()) {
    context_.world.fail("a tick that changed nothing is due again at once");
  }
}

void Client::answered(Request& request, Outcome outcome) {
  context_.requests.answered(context_.client, request, outcome);
  if (request.verb != Verb::acquire_all) {
    return context_.process->completed(request, std::move(outcome));
  }
  const bool found = std::ranges::any_of(
      multi_callers_, [&](MultiKeyCaller& caller) { return caller.answered(request, outcome); });
  if (!found) context_.world.fail("an outcome for several keys without a request");
}

// A process that was frozen learns of an outage when it thaws: the reconnection reports it, too.
void Client::notified(const Notification& notification) {
  if (frozen_until_ > context_.world.now) return;
  context_.note("notified", {}, notification.id.number,
                static_cast<std::int64_t>(notification.kind));
  context_.process->notified(notification);
}

void Client::freeze() {
  World& world = context_.world;
  freeze_for(world.random.between({}, world.scenario.settings.watchdog * 2));
}

void Client::freeze_for(Clock::duration length) {
  World& world = context_.world;
  frozen_until_ = std::max(frozen_until_, world.now + length);
  context_.note("freeze", {}, 0, length.count());
  context_.history.clients[context_.client].awake_since = frozen_until_;
  context_.history.clients[context_.client].disturbed_at = frozen_until_;
}

// The new process continues the numbers of the old one: the history identifies holds by them.
void Client::crash() {
  context_.note("crash");
  for (std::uint32_t key = 0; key < context_.world.keys.size(); ++key) {
    context_.history.observe(key, context_.world.now, "crashed",
                             {std::int64_t{context_.client} + 1});
  }
  tear_down();
  start_process(context_.history.clients[context_.client].attempts.size());
  frozen_until_ = {};
  rest_all(milliseconds(1), milliseconds(500));
}

void Client::tear_down() {
  struct LeftHold {
    std::string key;
    GrantedHold hold;
    Owner owner;  // another unlock of this owner may end `hold`
  };
  std::vector<LeftHold> left;
  for (std::size_t key = 0; key < context_.world.keys.size(); ++key) {
    for (const GrantedHold& hold : context_.history.keys[key].holds) {
      if (hold.client != context_.client) continue;
      left.push_back({context_.world.keys[key], hold, hold.hold->owner});
    }
  }
  context_.history.crashed(context_.client);
  for (SingleKeyCaller& caller : callers_) caller.stop();
  for (MultiKeyCaller& caller : multi_callers_) caller.stop();
  for (const auto& [key, hold, owner] : left) {
    if (hold.by_lock) {
      context_.process->abandon(key, owner, hold.type);
    } else {
      context_.process->abandon(key, *hold.hold, hold.type, hold.by_watchdog, hold.limit);
    }
  }
  if (!context_.process->tear_down()) {
    context_.world.fail("something is left although all was answered");
  }
  for (SingleKeyCaller& caller : callers_) caller.forget();
  for (MultiKeyCaller& caller : multi_callers_) caller.forget();
}

void Client::thaw() noexcept { frozen_until_ = std::min(frozen_until_, context_.world.now); }

void Client::close() {
  context_.history.closing(context_.client);
  context_.process->close();
  context_.requests.closed(context_.client, context_.process->settings().space);
}

void Client::check_idle() {
  World& world = context_.world;
  if (!std::ranges::all_of(callers_, &SingleKeyCaller::idle)) {
    world.fail("a call was never answered");
  }
  if (!std::ranges::all_of(multi_callers_, &MultiKeyCaller::idle)) {
    world.fail("an acquire of several keys was never answered");
  }
  if (!context_.process->idle()) world.fail("a coordinator is not idle when all is over");
}

bool Client::answers_at_once(Process& process, Request& request, Outcome& outcome) {
  if (!context_.world.scenario.immediate) return false;
  context_.requests.submitted(context_.client, request, process.closed());
  outcome = context_.network.apply_at_once(context_.client, request);
  context_.note("immediate", to_string(request.verb), request.id.number,
                static_cast<std::int64_t>(outcome.kind));
  context_.requests.applied(context_.client, request, outcome, true);
  context_.requests.answered(context_.client, request, outcome);
  return true;
}

void Client::submitted(Process& process, Request& request) {
  World& world = context_.world;
  context_.note("sends", to_string(request.verb), request.id.number, request.lease.count());
  context_.requests.submitted(context_.client, request, process.closed());
  context_.network.submit(context_.client, request);
  // A process that stops while a renewal is under way is the hardest case of a freeze.
  const bool freezes = !world.faults_stopped && world.scenario.freeze_rate > 0;
  if (freezes && request.verb == Verb::renew && world.random.percent(2)) freeze();
}

void Client::woken(Process&, Call& call) {
  const auto takes = [&](auto& caller) { return caller.woken(call); };
  if (std::ranges::any_of(callers_, takes) || std::ranges::any_of(multi_callers_, takes)) return;
  context_.world.fail("a call was answered that is over");
}

void Client::published(Process&, const Event& event) {
  if (event.kind == Event::Kind::lost) ++losses_;
  context_.note(to_string(event.kind), event.text);
}

void Client::before_event(Process&, Coordinator& coordinator) {
  const std::uint32_t key = context_.world.key_index(coordinator.key);
  context_.holds.before_event(context_.client, key);
  context_.holds.check_local_queue(context_.client, key, false);
}

void Client::after_event(Process&, Coordinator& coordinator) {
  const std::uint32_t key = context_.world.key_index(coordinator.key);
  context_.holds.after_event(context_.client, key);
  context_.holds.check_local_queue(context_.client, key, waits_locally(key));
  const Clock::time_point due = coordinator.due();
  if (due == coordinator.due_at) return;
  coordinator.due_at = due;
  if (due == Clock::never()) return;
  context_.schedule_at(due, Due::coordinator_timer, key, 0);
}

/// Calls wait in the local queue and none of them has a request under way.
bool Client::waits_locally(std::uint32_t key) const {
  const auto acts = [&](const MultiKeyCaller& caller) { return caller.acts_on(key); };
  if (std::ranges::any_of(multi_callers_, acts)) return false;
  bool waits = false;
  for (const SingleKeyCaller& caller : callers_) {
    if (!caller.acquires(key)) continue;
    if (caller.has_claim()) return false;
    waits = true;
  }
  return waits;
}

}  // namespace latchkey::inline v1::sim
