// The faults of the simulation of a latch.
#include <algorithm>
#include <utility>

#include "sim/latch_simulation.hpp"

namespace latchkey::inline v1::sim {

void LatchSimulation::disturb() {
  Process& process = processes_[random_.below(processes_.size())];
  switch (random_.below(8)) {
    case 0: return crash(process);
    case 1: return lose_data(false);
    case 2: return lose_data(true);
    case 3:
    case 4: return cut(process);
    default:
      process.frozen_until = std::max(process.frozen_until, now_ + length(3'000));
      process.calm.frozen_until = process.frozen_until;
      process.calm.disturbed_until(process.frozen_until);
  }
}

/// Another process takes its place.
void LatchSimulation::crash(Process& process) {
  store_.forget(channels_[index_of(process)]);
  const std::uint64_t epoch = process.epoch + 1;
  process = {};
  process.epoch = epoch;
  process.calm.disturbed_until(now_);
  start(process);
}

/// Loses all messages in either direction. Requests without a reply complete as unknown.
void LatchSimulation::cut(Process& process) {
  if (!std::exchange(process.connected, false)) return;
  store_.forget(channels_[index_of(process)]);
  ++process.connection;
  const Length pause = Length(1) + length(1'500);
  process.calm.disturbed_until(now_ + pause);
  schedule(process, pause, {.what = What::reconnect});
  Event lost{.what = What::reply};
  lost.outcome.kind = Kind::unknown;
  for (; lost.waiter < waits_of_each; ++lost.waiter) {
    const Waiter& waiter = process.waiters[lost.waiter];
    lost.number = waiter.number;
    if (waiter.wait && waiter.wait->step() == Step::read) schedule(process, Length(0), lost);
  }
  lost.number = process.count;
  if (process.count != 0) schedule(process, Length(0), lost);
}

/// A flush, or a server that comes back empty.
void LatchSimulation::lose_data(bool keeps_connections) {
  Request request;
  request.verb = Verb::latch_delete;
  request.key = "latch";
  Outcome outcome;
  silent_ = true;  // it tells nobody
  store_.apply(request, nullptr, outcome);
  silent_ = false;
  model_.lose(now_);
  for (Process& each : processes_) {
    if (keeps_connections)
      each.calm.lost_message(now_);
    else
      cut(each);
  }
}

}  // namespace latchkey::inline v1::sim
