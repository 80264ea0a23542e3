// The simulation of scheduled jobs.
#include "sim/once_simulation.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace latchkey::inline v1::sim {

using std::chrono::milliseconds;

OnceSimulation::OnceSimulation(std::uint64_t seed)
    : random_(seed), skips_(random_.percent(50)), schedule_{} {
  schedule_.period = milliseconds(random_.pick({200, 1'000, 3'000}));
  schedule_.offset = length(static_cast<int>(schedule_.period.count()));
  schedule_.clock_error = milliseconds(random_.pick({0, 20, 90}));
  schedule_.start_within =
      random_.percent(70) ? schedule_.period : milliseconds(1) + schedule_.period / 3;
  processes_.resize(2 + random_.below(3));
  for (Process& each : processes_) next_in(each, length(300));
}

OnceSimulationReport OnceSimulation::run(int steps) {
  for (int taken = 0; taken < steps && report_.violation.empty(); ++taken) {
    const Event event = events_.take_first();
    now_ = event.at;
    Process& process = processes_[event.process];
    if (event.epoch == process.epoch) step(process);
    if (random_.percent(3)) disturb();
  }
  report_.runs = static_cast<int>(runs_.size());
  return report_;
}

void OnceSimulation::next_in(Process& process, Length length) {
  const auto number = static_cast<std::size_t>(&process - processes_.data());
  events_.add({now_ + length, 0, number, process.epoch});
}

/// Most messages are fast. Some are stuck for longer than a period and all that follows it.
OnceSimulation::Length OnceSimulation::message() {
  if (random_.percent(4)) return length(static_cast<int>(4 * schedule_.period.count()));
  return length(10);
}

OnceSimulation::Wall OnceSimulation::wall(const Process& process) const {
  constexpr Wall epoch(std::chrono::hours(24 * 20'000));
  return epoch + (now_.time_since_epoch() + process.error);
}

void OnceSimulation::step(Process& process) {
  switch (process.stage) {
    case Stage::idle: return call_run(process);
    case Stage::asking:
      apply(process, Verb::acquire, lease());
      process.stage = Stage::answered;
      return next_in(process, message());
    case Stage::answered: return on_reply(process);
    case Stage::running: return on_body_end(process);
    case Stage::marking:
      apply(process, Verb::renew, schedule_.mark());
      process.stage = Stage::marked;
      return next_in(process, message());
    case Stage::marked:
      if (process.granted) {
        Run& run = runs_[static_cast<std::size_t>(process.run)];
        run.done = now_;
      }
      return end(process);
  }
}

/// Somebody's clock is set, or somebody's process ends: another one takes its place.
void OnceSimulation::disturb() {
  Process& process = processes_[random_.below(processes_.size())];
  const auto most = 2 * static_cast<std::uint64_t>(schedule_.clock_error.count());
  process.error = milliseconds(random_.below(most + 1)) - schedule_.clock_error;
  if (!random_.percent(30)) return;
  if (process.run >= 0 && process.stage == Stage::running) {
    Run& run = runs_[static_cast<std::size_t>(process.run)];
    run.believed_until = std::min(run.believed_until, now_);
    judge(run);
  }
  ++process.epoch;
  process.stage = Stage::idle;
  process.run = -1;
  next_in(process, length(50));
}

void OnceSimulation::call_run(Process& process) {
  process.instant = schedule_.instant_at(wall(process));
  if (!schedule_.is_in_time(process.instant, wall(process))) return next_in(process, length(100));
  process.id = {{1, 2}, ++last_id_};
  process.sent = now_;
  process.stage = Stage::asking;
  next_in(process, message());
}

void OnceSimulation::apply(Process& process, Verb verb, Length lease) {
  const std::string key = detail::once_key("job", process.instant);
  Request request;
  request.verb = verb;
  request.key = key;
  request.id = process.id;
  request.lease = lease;
  process.granted = store_.apply(request, now_).kind == Outcome::Kind::granted;
}

void OnceSimulation::on_reply(Process& process) {
  if (!process.granted) return end(process);
  process.deadline = process.sent + lease();
  if (!schedule_.is_in_time(process.instant, wall(process))) {
    apply(process, Verb::release, {});
    return end(process);
  }
  const Length body = random_.percent(10) ? length(2'000) : length(100);
  const bool renews = !skips_ && random_.percent(80);  // otherwise it is frozen
  if (renews) {
    apply(process, Verb::renew, body + lease());  // the watchdog: as many times as it takes
    if (process.granted) process.deadline = now_ + body + lease();
  }
  process.run = static_cast<int>(runs_.size());
  const bool begins = skips_ || now_ < process.deadline;
  if (begins) {
    runs_.push_back({process.instant, now_, std::min(now_ + body, process.deadline), {}});
    if (skips_) judge(runs_.back());
  } else {
    process.run = -1;  // it asks whether its lock is lost, and it is
  }
  process.stage = Stage::running;
  next_in(process, body);
}

void OnceSimulation::on_body_end(Process& process) {
  const bool failed = random_.percent(20);
  if (process.run >= 0 && !skips_) judge(runs_[static_cast<std::size_t>(process.run)]);
  if (skips_ || process.run < 0) return end(process);
  if (failed) {
    apply(process, Verb::release, {});
    return end(process);
  }
  process.stage = Stage::marking;
  next_in(process, message());
}

void OnceSimulation::end(Process& process) {
  process.stage = Stage::idle;
  process.run = -1;
  next_in(process, length(100));
}

/// `run` is over; skip_instant: it has begun.
void OnceSimulation::judge(const Run& run) {
  for (const Run& other : runs_) {
    if (&other == &run || other.instant != run.instant) continue;
    ++report_.repeated;
    const std::string of = " of " + detail::instant_text(run.instant);
    if (skips_) {
      report_.violation = "a second run" + of + " has begun";
    } else if (other.begun < run.believed_until && run.begun < other.believed_until) {
      report_.violation = "two runs" + of + " at one time";
    } else if (other.done && run.believed_until > *other.done && run.begun >= *other.done) {
      report_.violation = "a run" + of + " after one that was done";
    }
  }
}

}  // namespace latchkey::inline v1::sim
