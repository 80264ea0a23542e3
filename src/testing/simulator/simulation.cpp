// The event loop of a simulation.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/simulation.hpp"

#include <algorithm>
#include <utility>

#include <latchkey/testing/simulator.hpp>

namespace latchkey::inline v1::sim {
namespace {

/// More than a run without faults takes to come to rest.
constexpr std::uint64_t most_last_steps = 50'000;

/// Nothing of the process is involved, so that it occurs also while the process is frozen.
bool is_outside_processes(Due due) noexcept {
  return due == Due::delivery || due == Due::loss_check || due == Due::fault;
}

}  // namespace

Simulation::Simulation(std::uint64_t seed, bool keeps_text,
                       const testing::SimulationSettings& settings)
    : world_(seed, keeps_text),
      store_(settings.store ? make_backend_store(world_.now, settings.store)
                            : make_table_store(world_.now)),
      history_(world_.scenario.clients, world_.keys.size()),
      network_(world_, *store_, *this),
      hold_judge_(world_, history_),
      request_judge_(world_, history_, *store_),
      loss_judge_(world_, history_, *store_),
      turn_judge_(world_, history_),
      faults_(world_, *store_, network_, loss_judge_, clients_) {
  world_.scenario.restrict_to(store_->offers());
  if (!settings.schedule.empty()) {
    world_.scenario.draw_no_faults();
    faults_.schedule(settings.schedule);
  }
  const Environment environment{world_,         history_,    hold_judge_,
                                request_judge_, turn_judge_, network_};
  for (std::uint32_t client = 0; client < world_.scenario.clients; ++client) {
    clients_.emplace_back(environment, client);
  }
}

Report Simulation::run(std::uint64_t steps) {
  for (std::uint64_t step = 0; (step < steps || faults_.are_due()) && world_.passed(); ++step) {
    faults_.step();
    advance();
  }
  if (world_.passed()) stop_faults();
  for (std::uint64_t step = 0; step < most_last_steps; ++step) {
    if (!world_.passed() || world_.schedule.empty()) break;
    advance();
  }
  if (world_.passed()) check_nothing_left();
  for (std::uint32_t key = 0; key < world_.keys.size(); ++key) {
    history_.observe(key, world_.now, "ended", {});
  }
  for (Client& client : clients_) client.tear_down();
  return report();
}

Report Simulation::report() const {
  Report report{world_.violation, world_.trace.text(), world_.trace.hash()};
  for (const Client& client : clients_) {
    report.grants += client.grants();
    report.losses += client.losses();
  }
  return report;
}

// A process that thaws receives everything that happened meanwhile, in the same order.
void Simulation::advance() {
  if (world_.schedule.empty()) return;
  const ScheduledEvent event = world_.schedule.take_first();
  world_.now = std::max(world_.now, event.at);
  const Clock::duration thaws = clients_[event.client].frozen_until();
  if (thaws <= world_.now || is_outside_processes(event.due)) return dispatch(event);
  world_.schedule.add(thaws, event.due, event.client, event.index, event.epoch);
}

void Simulation::dispatch(const ScheduledEvent& event) {
  switch (event.due) {
    case Due::delivery: return network_.deliver(event.index);
    case Due::reply: return network_.reply(event.index);
    case Due::timeout: return network_.time_out(event.index);
    case Due::batch: return network_.send_batch(event);
    case Due::push: return network_.push(event);
    case Due::reconnect: return network_.reconnect(event);
    case Due::fault: return faults_.begin(event.index);
    case Due::loss_check: return loss_judge_.check(event);
    default: return clients_[event.client].handle(event);
  }
}

void Simulation::stop_faults() {
  world_.faults_stopped = true;
  world_.note(0, "faults stop");
  store_->end_migrations();
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    clients_[client].thaw();
    network_.repair(client);
    const bool closes = world_.random.percent(10);
    const bool keeps_idle = world_.scenario.settings.cache.count() != 0;
    if (closes || (keeps_idle && world_.idle_choices.percent(50))) clients_[client].close();
  }
}

// Once everything was released and all leases have expired nothing is left, here or at the store.
void Simulation::check_nothing_left() {
  if (!world_.schedule.empty()) return world_.fail("it does not come to rest");
  for (Client& client : clients_) client.check_idle();
  world_.now += std::chrono::minutes(1) + faults_.set_back();
  if (store_->left(world_.keys) != 0) world_.fail("something is left at the store");
}

void Simulation::applied(std::uint32_t client, const Request& request, const Outcome& outcome,
                         bool awaited) {
  request_judge_.applied(client, request, outcome, awaited);
}

void Simulation::granted(std::uint32_t client, const Notification& notification) {
  request_judge_.granted(client, notification);
}

void Simulation::answered(std::uint32_t client, Request& request, Outcome outcome) {
  clients_[client].answered(request, std::move(outcome));
}

void Simulation::notified(std::uint32_t client, const Notification& notification) {
  request_judge_.notified(client, notification);
  clients_[client].notified(notification);
}

void Simulation::disturbed(std::uint32_t client) { history_.disturbed(client, world_.now); }

}  // namespace latchkey::inline v1::sim

namespace latchkey::inline v1::testing {

SimulationReport simulate(std::uint64_t seed, const SimulationSettings& settings) {
  SimulationReport report = sim::Simulation(seed, settings.trace, settings).run(settings.steps);
  if (report.violation.empty() || settings.trace) return report;
  return sim::Simulation(seed, true, settings).run(settings.steps);
}

}  // namespace latchkey::inline v1::testing
