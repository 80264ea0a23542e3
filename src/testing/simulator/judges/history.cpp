// Keeps the history of a simulation.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/judges/history.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v1::sim {

History::History(std::size_t client_count, std::size_t key_count)
    : clients(client_count), keys(key_count) {
  for (ClientHistory& client : clients) {
    client.attempts.resize(1);
    client.open_releases.resize(key_count);
    client.stalled_since.resize(key_count, never_happened);
  }
}

AttemptRecord& History::attempt(std::uint32_t client, std::uint64_t number) {
  std::vector<AttemptRecord>& list = clients[client].attempts;
  if (number >= list.size()) list.resize(number + 1);
  return list[number];
}

bool History::is_live(const GrantedHold& hold) const {
  return !hold.hold->is_lost(clients[hold.client].clock->now());
}

Clock::time_point History::end_of_delay(const GrantedHold& hold) {
  return hold.hold->deadline_point() + hold.delay * 99 / 100;
}

bool History::is_delayed(const GrantedHold& hold) const {
  if (hold.delay == Clock::duration::zero() || is_live(hold)) return false;
  return clients[hold.client].clock->now() < end_of_delay(hold);
}

std::uint32_t History::permits_held(const KeyHistory& key, std::uint32_t client,
                                    std::uint64_t number) const {
  std::uint32_t sum = 0;
  const auto counts = [&](const auto& each) {
    return each.type == LockType::PERMIT && !each.excused &&
           !(each.client == client && each.number == number);
  };
  for (const GrantedHold& hold : key.holds) {
    if (counts(hold) && (is_live(hold) || is_delayed(hold))) sum += hold.permits;
  }
  for (const std::vector<KeyHistory::Retained>* const all : {&key.retained, &key.delayed}) {
    for (const KeyHistory::Retained& each : *all) {
      if (counts(each) && clients[each.client].clock->now() < each.until) sum += each.permits;
    }
  }
  return sum;
}

void History::store_fault(std::uint32_t key, Clock::duration now) {
  KeyHistory& history = keys[key];
  history.fault_at = now;
  ++history.faults;
  observe(key, now, "fault", {});
  for (KeyHistory::Retained& each : history.retained) each.excused = true;
  for (KeyHistory::Retained& each : history.delayed) each.excused = true;
  for (GrantedHold& each : history.holds) each.excused = true;
}

void History::disturbed(std::uint32_t client, Clock::duration now) {
  clients[client].disturbed_at = std::max(clients[client].disturbed_at, now);
}

void History::closing(std::uint32_t client) {
  clients[client].closing = true;
  for (KeyHistory& key : keys) {
    std::erase_if(key.retained, [&](const auto& each) { return each.client == client; });
  }
}

void History::crashed(std::uint32_t client) {
  const auto of_client = [&](const auto& each) { return each.client == client; };
  for (KeyHistory& key : keys) {
    for (const GrantedHold& hold : key.holds) {
      if (!of_client(hold) || hold.delay == Clock::duration::zero()) continue;
      key.delayed.push_back(
          {client, hold.number, hold.type, end_of_delay(hold), hold.excused, hold.permits});
    }
    std::erase_if(key.holds, of_client);
    std::erase_if(key.retained, of_client);
    std::erase_if(key.waiters, of_client);
  }
  clients[client].open_releases.assign(keys.size(), 0);
  clients[client].stalled_since.assign(keys.size(), never_happened);
}

void History::observe(std::uint32_t key, Clock::duration now, std::string_view kind,
                      std::initializer_list<Observation::Argument> arguments) {
  if (!observes) return;
  Observation observation{kind, microseconds(now), {}, arguments};
  for (std::uint32_t client = 0; client < clients.size(); ++client) {
    observation.clocks.push_back(local_time(client, clients[client].clock->now()));
  }
  keys[key].observations.push_back(std::move(observation));
}

std::int64_t History::local_time(std::uint32_t client, Clock::time_point time) const {
  return microseconds(clients[client].clock->elapsed(time));
}

void History::starts_waiting(std::uint32_t key, const KeyHistory::Waiter& waiter) {
  keys[key].waiters.push_back(waiter);
}

void History::stops_waiting(std::uint32_t key, std::uint32_t client, std::uint32_t caller) {
  std::erase_if(keys[key].waiters, [&](const KeyHistory::Waiter& each) {
    return each.client == client && each.caller == caller;
  });
}

}  // namespace latchkey::inline v1::sim
