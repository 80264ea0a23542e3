// The simulated network: checks of one client that travel as one call.
// SPDX-License-Identifier: BSL-1.0
#include <utility>
#include <vector>

#include "testing/simulator/network/network.hpp"

namespace latchkey::inline v1::sim {

using detail::redis::CheckAnswers;
using CheckAnswer = CheckAnswers::Answer;

bool Network::joins_batch(const Request& request) const noexcept {
  const bool checks = request.verb == Verb::renew || request.verb == Verb::verify;
  return checks && world_.scenario.settings.common_checks;
}

// As in Session: checks wait for others until the client has nothing more to submit at this time,
// or submits another request.
void Network::join_batch(Connection& connection, std::uint32_t index) {
  connection.checks.push_back(index);
  ++packets_[index].events;  // it is kept until it is sent
  if (connection.checks.size() == 1) {
    world_.schedule_in({}, Due::batch, connection.client, 0, connection.epoch);
  } else if (connection.checks.size() == CheckAnswers::most) {
    send_batch(connection);
  }
}

void Network::send_batch(const ScheduledEvent& event) {
  Connection& connection = *connections_[event.client];
  if (event.epoch == connection.epoch) send_batch(connection);
}

void Network::send_batch(Connection& connection) {
  if (connection.checks.empty()) return;
  const std::uint32_t first = connection.checks.front();
  if (connection.checks.size() > 1) packets_[first].together = connection.checks;
  send(connection, first);
  drop_batch(connection);
}

void Network::drop_batch(Connection& connection) {
  for (const std::uint32_t index : std::exchange(connection.checks, {})) release(index);
}

void Network::deliver_batch(std::uint32_t first) {
  const std::vector<std::uint32_t> checks = packets_[first].together;
  CheckAnswers answers;
  bool awaited = false;
  for (const std::uint32_t index : checks) {
    Packet& packet = packets_[index];
    const bool again = packet.applied && world_.scenario.settings.in_order;
    if (packet.dropped || again) {
      answers.add(CheckAnswer::unclear);
      continue;
    }
    awaited = carry_out(index) || awaited;
    const Outcome::Kind kind = packets_[index].outcome.kind;
    const bool gone = kind == Outcome::Kind::gone;
    const bool held = kind == Outcome::Kind::granted;
    answers.add(held ? CheckAnswer::held : gone ? CheckAnswer::gone : CheckAnswer::unclear);
  }
  if (!awaited) return;
  packets_[first].answers = answers;
  send_reply(first);
}

void Network::reply_to_batch(std::uint32_t first) {
  const std::vector<std::uint32_t> checks = packets_[first].together;
  const CheckAnswers answers = packets_[first].answers;
  for (std::size_t position = 0; position < checks.size(); ++position) {
    Packet& packet = packets_[checks[position]];
    if (packet.original == nullptr || packet.epoch != connections_[packet.client]->epoch) continue;
    const CheckAnswer answer = answers.of(position);
    if (answer == CheckAnswer::unclear) {
      send_alone(checks[position]);
      continue;
    }
    Outcome outcome;
    outcome.kind = answer == CheckAnswer::held ? Outcome::Kind::granted : Outcome::Kind::gone;
    if (outcome.kind != packet.outcome.kind) {
      world_.fail("a check has an outcome that is not the store's");
    }
    complete(packet, std::move(outcome));
  }
}

void Network::send_alone(std::uint32_t index) {
  Request& request = *std::exchange(packets_[index].original, nullptr);
  Connection& connection = *connections_[packets_[index].client];
  const std::uint32_t again = copy(connection.client, request);
  connection.open.push_back(again);
  schedule(again, world_.scenario.settings.command_timeout, Due::timeout);
  send(connection, again);
}

}  // namespace latchkey::inline v1::sim
