// The simulation of a latch.
#include "sim/latch_simulation.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v1::sim {

LatchSimulation::LatchSimulation(std::uint64_t seed)
    : random_(seed),
      settings_{.command_timeout = Length(random_.pick({100, 500})),
                .unavailable_after = Length(random_.pick({1'000, 8'000})),
                .pushes = random_.percent(85)},
      pause_(random_.pick({100, 1'000, 10'000})),
      faults_(random_.percent(70) ? 1 : 0),
      model_(settings_) {
  processes_.resize(2 + random_.below(3));
  for (Process& each : processes_) {
    Channel& channel = channels_.emplace_back();
    channel.simulation = this;
    channel.process = index_of(each);
    start(each);
  }
}

void LatchSimulation::start(Process& process) {
  schedule(process, length(300), {.what = What::act});
  for (std::size_t which = 0; which < waits_of_each; ++which) {
    schedule(process, length(300), {.what = What::begin, .waiter = which});
  }
}

LatchSimulationReport LatchSimulation::run(int steps) {
  for (int taken = 0; taken < steps && model_.report.violation.empty(); ++taken) {
    Event event = events_.take_first();
    now_ = event.at;
    Process& process = processes_[event.process];
    if (event.what != What::at_store && now_ < process.frozen_until) {
      event.at = process.frozen_until;
      events_.add(std::move(event));
    } else if (event.epoch == process.epoch && !is_lost(process, event)) {
      handle(process, event);
    }
    if (random_.percent(faults_)) disturb();
    judge_all();
  }
  return model_.report;
}

bool LatchSimulation::is_lost(const Process& process, const Event& event) {
  const bool travels =
      event.what == What::at_store || event.what == What::reply || event.what == What::message;
  return travels && event.connection != process.connection;
}

void LatchSimulation::schedule(Process& process, Length in, Event event) {
  event.at = now_ + in;
  event.process = index_of(process);
  event.epoch = process.epoch;
  event.connection = process.connection;
  events_.add(std::move(event));
}

void LatchSimulation::handle(Process& process, const Event& event) {
  switch (event.what) {
    case What::act: return act(process);
    case What::begin: return begin(process, event.waiter);
    case What::at_store: return arrive(process, event);
    case What::reply: return on_reply(process, event);
    case What::timeout: return on_timeout(process, event);
    case What::message: return wake_all(process);
    case What::reconnect:
      process.connected = true;
      // The session subscribes anew, and then tells that the connection is there.
      if (is_awaited(process)) send(process, 0, 0, Verb::subscribe);
      return wake_all(process);
  }
}

// --- what the processes do ---

/// One change of the count after the other.
void LatchSimulation::act(Process& process) {
  const auto chance = random_.below(100);
  const Verb verb = chance < 60   ? Verb::latch_down
                    : chance < 95 ? Verb::latch_set
                                  : Verb::latch_delete;
  const auto tokens = static_cast<std::uint32_t>(1 + random_.below(4));
  process.count = counts_.size();
  counts_.push_back({.verb = verb, .tokens = tokens});
  send(process, waits_of_each, process.count, verb, tokens);
  schedule(process, settings_.command_timeout,
           {.what = What::timeout, .waiter = waits_of_each, .number = process.count});
}

void LatchSimulation::begin(Process& process, std::size_t which) {
  Waiter& waiter = process.waiters[which];
  const Wait length = random_.percent(40)   ? Wait(forever)
                      : random_.percent(10) ? Wait(Length(0))
                                            : Wait(this->length(12'000));
  waiter = {};
  waiter.wait.emplace(length, settings_, now_);
  waiter.seen = {length.is_forever(), now_, later(now_, length.length()), now_};
  carry_out(process, which);
}

/// As LatchWaits does.
void LatchSimulation::carry_out(Process& process, std::size_t which) {
  Waiter& waiter = process.waiters[which];
  detail::LatchWait& wait = *waiter.wait;
  waiter.number = ++last_number_;
  switch (wait.step()) {
    case Step::read: send(process, which, waiter.number, Verb::latch_count); break;
    case Step::subscribe:
      waiter.subscribed = true;
      send(process, which, waiter.number, Verb::subscribe);
      break;
    case Step::sleep:
      if (!std::exchange(waiter.notified, false)) break;
      wait.on_wake(now_);
      return carry_out(process, which);
    default:
      model_.on_end(waiter.seen, wait.step(), now_);
      leave(process, waiter);
      return schedule(process, length(500), {.what = What::begin, .waiter = which});
  }
  if (wait.until() == Clock::never()) return;
  const auto left = std::chrono::ceil<Length>(wait.until() - now_);
  schedule(process, left, {.what = What::timeout, .waiter = which, .number = waiter.number});
}

void LatchSimulation::leave(Process& process, Waiter& waiter) {
  waiter.wait.reset();
  if (!std::exchange(waiter.subscribed, false) || is_awaited(process)) return;
  send(process, 0, 0, Verb::unsubscribe);
}

bool LatchSimulation::is_awaited(const Process& process) const {
  return std::ranges::any_of(process.waiters, &Waiter::subscribed);
}

/// Without a connection a question fails at once, and a subscription is made with the next one.
void LatchSimulation::send(Process& process, std::size_t waiter, std::uint64_t number, Verb verb,
                           std::uint32_t tokens) {
  Event event{.waiter = waiter, .number = number, .verb = verb, .tokens = tokens};
  if (process.connected) {
    event.what = What::at_store;
    const Time at = std::max(now_ + message(process), process.last_at_store);
    process.last_at_store = at;
    schedule(process, std::chrono::ceil<Length>(at - now_), std::move(event));
  } else if (verb != Verb::subscribe && verb != Verb::unsubscribe) {
    event.what = What::reply;
    event.outcome.kind = Kind::unknown;
    schedule(process, Length(1), std::move(event));
  }
}

/// Most messages are fast. A slow one takes longer than a command may.
LatchSimulation::Length LatchSimulation::message(Process& process) {
  if (!random_.percent(2)) return length(static_cast<int>(LatchModel::longest_message.count()));
  const Length slow = length(2'000);
  process.calm.disturbed_until(now_ + slow);
  return slow;
}

// --- the server ---

void LatchSimulation::arrive(Process& process, const Event& event) {
  Request request;
  request.verb = event.verb;
  request.key = "latch";
  request.tokens = event.tokens;
  request.latch = event.verb == Verb::subscribe || event.verb == Verb::unsubscribe;
  if (event.waiter == waits_of_each) model_.apply(counts_[event.number], now_);
  Event reply{
      .what = What::reply, .waiter = event.waiter, .number = event.number, .verb = event.verb};
  if (!request.latch || settings_.pushes) {
    store_.apply(request, &channels_[event.process], reply.outcome);
  }
  if (event.verb == Verb::latch_count) model_.on_read(reply.outcome);
  const Time at = std::max(now_ + message(process), process.last_reply);
  process.last_reply = at;
  schedule(process, std::chrono::ceil<Length>(at - now_), std::move(reply));
}

/// To one subscriber. Some messages are lost although their connection is not.
void LatchSimulation::publish(std::size_t number) {
  Process& process = processes_[number];
  if (silent_ || random_.percent(10)) return process.calm.lost_message(now_);
  const Time at = std::max(now_ + message(process), process.last_reply);
  process.last_reply = at;
  schedule(process, std::chrono::ceil<Length>(at - now_), {.what = What::message});
}

// --- what reaches a process ---

void LatchSimulation::on_reply(Process& process, const Event& event) {
  if (event.waiter == waits_of_each) return on_count_reply(process, event);
  Waiter& waiter = process.waiters[event.waiter];
  if (!waiter.wait || waiter.number != event.number) return;  // given up
  if (event.verb == Verb::subscribe) {
    waiter.wait->on_subscribed(now_);
  } else if (event.outcome.kind == Kind::granted) {
    waiter.seen.answered = now_;
    waiter.wait->on_count(event.outcome.token, now_);
  } else {
    waiter.wait->on_no_answer("the connection was lost", now_);
  }
  carry_out(process, event.waiter);
}

void LatchSimulation::on_count_reply(Process& process, const Event& event) {
  if (process.count != event.number) return;
  model_.on_answer(counts_[event.number], event.outcome);
  process.count = 0;
  schedule(process, length(pause_), {.what = What::act});
}

void LatchSimulation::on_timeout(Process& process, const Event& event) {
  if (event.waiter == waits_of_each) return on_count_reply(process, event);  // unknown
  Waiter& waiter = process.waiters[event.waiter];
  if (!waiter.wait || waiter.number != event.number) return;
  switch (waiter.wait->step()) {
    case Step::read: waiter.wait->on_no_answer("the server gave no answer", now_); break;
    case Step::subscribe: waiter.wait->on_subscribed(now_); break;
    default: waiter.wait->on_wake(now_);
  }
  carry_out(process, event.waiter);
}

void LatchSimulation::wake_all(Process& process) {
  for (std::size_t which = 0; which < waits_of_each; ++which) {
    Waiter& waiter = process.waiters[which];
    if (!waiter.subscribed) continue;
    waiter.notified = true;
    if (waiter.wait->step() == Step::sleep) carry_out(process, which);
  }
}

void LatchSimulation::judge_all() {
  for (const Process& each : processes_) {
    for (const Waiter& waiter : each.waiters) {
      if (waiter.wait) model_.check(waiter.seen, each.calm, now_);
    }
  }
}

}  // namespace latchkey::inline v1::sim
