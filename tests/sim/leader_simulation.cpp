// The simulation of Leaders.
#include "sim/leader_simulation.hpp"

#include <algorithm>
#include <utility>

#include "leader/leader_term.hpp"

namespace latchkey::inline v1::sim {

LeaderSimulation::LeaderSimulation(std::uint64_t seed) : random_(seed) {
  processes_.resize(2 + random_.below(3));
  for (Process& each : processes_) schedule(each, What::ask, length(300));
}

LeaderSimulationReport LeaderSimulation::run(int steps) {
  for (int taken = 0; taken < steps && report_.violation.empty(); ++taken) {
    Event event = events_.take_first();
    now_ = event.at;
    Process& process = processes_[event.process];
    const bool at_store = event.what == What::ask || event.what == What::renew;
    if (!at_store && now_ < process.frozen_until) {
      event.at = process.frozen_until;
      events_.add(std::move(event));
    } else if (event.epoch == process.epoch) {
      handle(process, event);
    }
    if (random_.percent(2)) disturb();
  }
  return report_;
}

void LeaderSimulation::schedule(Process& process, What what, Length in, Outcome outcome,
                                Time sent) {
  const auto number = static_cast<std::size_t>(&process - processes_.data());
  events_.add({now_ + in, 0, number, process.epoch, what, std::move(outcome), sent, lineage_});
}

Outcome LeaderSimulation::apply(Process& process, Verb verb) {
  Request request;
  request.verb = verb;
  request.key = "leader";
  request.type = LockType::FENCED;
  request.id = process.id;
  request.lease = lease;
  return store_->apply(request, now_ - server_behind_);
}

// A request is sent some time before it arrives; a lost one or a lost reply is asked again.
void LeaderSimulation::handle(Process& process, const Event& event) {
  switch (event.what) {
    case What::ask: {
      if (process.doing == Doing::waits) {
        process.doing = Doing::asks;
        process.id = {{3, 4}, ++last_id_};
        return schedule(process, What::ask, message(), {}, now_);
      }
      const Time sent = event.sent;
      return schedule(process, What::answer, message(), apply(process, Verb::acquire), sent);
    }
    case What::answer: return on_answer(process, event);
    case What::renew: {
      if (random_.percent(10)) return;  // lost
      return schedule(process, What::renewed, message(), apply(process, Verb::renew), event.sent);
    }
    case What::renewed:
      if (process.doing != Doing::leads || now_ >= process.deadline) return;
      if (event.outcome.kind == Outcome::Kind::gone) process.deadline = now_;
      if (event.outcome.kind == Outcome::Kind::granted) {
        process.deadline = std::max(process.deadline, event.sent + lease - margin);
      }
      return look(process);
    case What::look:
      if (process.doing == Doing::leads) {
        schedule(process, What::renew, message(), {}, now_);
        look(process);
      }
      return;
    case What::ended: return end(process);
  }
}

void LeaderSimulation::on_answer(Process& process, const Event& event) {
  const bool granted = event.outcome.kind == Outcome::Kind::granted;
  const Time deadline = event.sent + lease - margin;
  // The Leader would renew a lock with less left, and not begin if that failed.
  const bool is_short = deadline - now_ < lease * 2 / 3;
  if (!granted || is_short || !detail::is_new_term(event.outcome.token, process.last_term)) {
    if (granted) static_cast<void>(apply(process, Verb::release));
    return end(process);
  }
  process.doing = Doing::leads;
  process.deadline = deadline;
  process.term = event.outcome.token;
  process.lineage = event.lineage;
  ++report_.terms;
  judge(process);
  process.last_term = process.term;
  look(process);
}

/// The Leader wakes for each answer, for a third of its lease, and when it has to stop.
void LeaderSimulation::look(Process& process) {
  const auto left = std::max(process.deadline - now_, Clock::duration::zero());
  const auto reason = detail::reason_to_stop({.lost = now_ >= process.deadline,
                                              .left = std::chrono::duration_cast<Length>(left),
                                              .stop_before = stop_before,
                                              .asked = random_.percent(5)});
  if (!reason && left <= stop_before) {
    report_.violation = "a Leader leads on, too near to its deadline";
    return;
  }
  if (!reason) {
    const auto until_stop = std::chrono::ceil<Length>(left - stop_before);
    return schedule(process, What::look, std::min(Length(lease / 3), until_stop));
  }
  process.doing = Doing::stops;
  ++process.epoch;
  if (!reason->empty()) ++report_.deposed;
  const bool was_frozen = now_ - process.frozen_until < lease;
  if (now_ + stop_before > process.deadline + Length(1) && !was_frozen &&
      process.lineage == lineage_) {
    report_.violation = "a Leader was not told before its deadline";
  }
  schedule(process, What::ended, length(300));
}

void LeaderSimulation::end(Process& process) {
  if (process.doing == Doing::stops) static_cast<void>(apply(process, Verb::release));
  process.doing = Doing::waits;
  ++process.epoch;
  schedule(process, What::ask, length(300));
}

void LeaderSimulation::disturb() {
  Process& process = processes_[random_.below(processes_.size())];
  switch (random_.below(8)) {
    case 0:  // another process takes its place
      ++process.epoch;
      process = Process{.epoch = process.epoch};
      return schedule(process, What::ask, length(100));
    case 1:
      store_.emplace();
      ++lineage_;
      if (random_.percent(50)) server_behind_ += length(5'000);
      return;
    default: process.frozen_until = std::max(process.frozen_until, now_ + length(1'500));
  }
}

/// Compares terms of one lineage only: a server without its data may grant twice until all Leaders
/// have checked their locks.
void LeaderSimulation::judge(const Process& elected) {
  if (elected.last_term != 0 && elected.term <= elected.last_term) {
    report_.violation = "a term does not rise";
  }
  for (const Process& other : processes_) {
    if (&other == &elected || !believes(other) || other.lineage != elected.lineage) continue;
    report_.violation = "two Leaders believe";
  }
}

}  // namespace latchkey::inline v1::sim
