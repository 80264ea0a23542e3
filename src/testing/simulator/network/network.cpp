// The simulated network: requests to the store, their outcomes, and pushes.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/network/network.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v1::sim {
namespace {

bool is_subscription(const Request& request) noexcept {
  return request.verb == Verb::subscribe || request.verb == Verb::unsubscribe;
}

}  // namespace

Network::Network(World& world, Store& store, NetworkHandler& handler)
    : world_(world), store_(store), handler_(handler) {
  for (std::uint32_t client = 0; client < world.scenario.clients; ++client) {
    connections_.push_back(std::make_unique<Connection>(*this, client));
  }
}

void Network::submit(std::uint32_t client, Request& request) {
  Connection& connection = *connections_[client];
  const std::uint32_t index = copy(client, request);
  connection.open.push_back(index);
  record_subscription(connection, packets_[index].request);
  const Clock::duration timeout = world_.scenario.settings.command_timeout;
  if (!connection.up) {
    packets_[index].dropped = true;
    schedule(index, world_.random.percent(50) ? milliseconds(1) : timeout, Due::timeout);
    return;
  }
  schedule(index, timeout, Due::timeout);
  if (joins_batch(request)) return join_batch(connection, index);
  send_batch(connection);
  send(connection, index);
}

std::uint32_t Network::copy(std::uint32_t client, Request& request) {
  const std::uint32_t index = new_packet();
  Packet& packet = packets_[index];
  packet.request = request;
  packet.original = &request;
  packet.client = client;
  packet.request.key = world_.keys[world_.key_index(request.key)];
  packet.members.assign(request.members.begin(), request.members.end());
  for (Member& member : packet.members) member.key = world_.keys[world_.key_index(member.key)];
  packet.request.members = packet.members;
  packet.epoch = connections_[client]->epoch;
  packet.applied = packet.dropped = false;
  packet.together.clear();
  return index;
}

void Network::send(Connection& connection, std::uint32_t index) {
  const Scenario& scenario = world_.scenario;
  const Request& request = packets_[index].request;
  const bool is_spared = spared(request);
  if (!is_spared && world_.random.percent(scenario.loss_percent)) {
    handler_.disturbed(connection.client);
    world_.note(connection.client, "lost", to_string(request.verb), request.id.number);
    return;
  }
  schedule(index, delay(connection, connection.last_delivery, is_spared), Due::delivery);
  if (!is_spared && world_.random.percent(scenario.duplicate_percent)) {
    schedule(index, delay(connection, connection.last_delivery, is_spared), Due::delivery);
  }
}

Outcome Network::apply_at_once(std::uint32_t client, const Request& request) {
  return store_.apply(request, connections_[client].get());
}

void Network::deliver(std::uint32_t index) {
  const Packet& packet = packets_[index];
  const bool again = packet.applied && world_.scenario.settings.in_order;
  if (!packet.together.empty()) {
    deliver_batch(index);
  } else if (!packet.dropped && !again) {
    apply(index);
  }
  release_message(index);
}

void Network::apply(std::uint32_t index) {
  if (carry_out(index)) send_reply(index);
}

/// Whether the client awaits the outcome.
bool Network::carry_out(std::uint32_t index) {
  Packet& packet = packets_[index];
  Connection& connection = *connections_[packet.client];
  const Request& request = packet.request;
  const bool first = !packet.applied;
  Outcome outcome = store_.apply(request, &connection);
  packet.applied = true;
  world_.note(packet.client, first ? "applied" : "applied again", to_string(request.verb),
              request.id.number, static_cast<std::int64_t>(outcome.kind));
  const bool awaited = first && packet.original != nullptr;
  handler_.applied(packet.client, request, outcome, awaited);
  if (awaited) packet.outcome = std::move(outcome);
  return awaited;
}

void Network::send_reply(std::uint32_t index) {
  const Packet& packet = packets_[index];
  Connection& connection = *connections_[packet.client];
  const Request& request = packet.request;
  if (!spared(request) && world_.random.percent(world_.scenario.loss_percent)) {
    handler_.disturbed(packet.client);
    world_.note(packet.client, "reply lost", to_string(request.verb), request.id.number);
    return;
  }
  schedule(index, delay(connection, connection.last_reply, spared(request)), Due::reply);
}

void Network::reply(std::uint32_t index) {
  Packet& packet = packets_[index];
  if (!packet.together.empty()) {
    reply_to_batch(index);
  } else if (packet.original != nullptr && packet.epoch == connections_[packet.client]->epoch) {
    complete(packet, std::move(packet.outcome));
  }
  release_message(index);
}

void Network::time_out(std::uint32_t index) {
  Packet& packet = packets_[index];
  if (packet.original != nullptr) {
    handler_.disturbed(packet.client);
    complete(packet, Outcome{});
  }
  release(index);
}

// The handler may submit further requests, which may move `packet`.
void Network::complete(Packet& packet, Outcome outcome) {
  Request& original = *std::exchange(packet.original, nullptr);
  const auto index = static_cast<std::uint32_t>(&packet - packets_.data());
  const std::uint32_t client = packet.client;
  // An ordered packet that is still to be delivered stays in the list: an outage must find it.
  if (packet.applied || packet.dropped || !world_.scenario.settings.in_order) {
    std::erase(connections_[client]->open, index);
  }
  world_.note(client, "outcome", to_string(original.verb), original.id.number,
              static_cast<std::int64_t>(outcome.kind));
  handler_.answered(client, original, std::move(outcome));
}

void Network::send_push(Connection& connection, const Notification& notification) noexcept {
  if (notification.kind == Notification::Kind::granted) {
    handler_.granted(connection.client, notification);
  }
  const bool lost = !world_.faults_stopped && world_.random.percent(world_.scenario.loss_percent);
  const bool recalls = notification.kind == Notification::Kind::wanted && !world_.faults_stopped;
  if (lost || (recalls && world_.idle_choices.percent(world_.scenario.lost_recalls))) return;
  if (free_pushes_.empty()) {
    free_pushes_.push_back(static_cast<std::uint32_t>(pushes_.size()));
    pushes_.emplace_back();
  }
  const std::uint32_t index = free_pushes_.back();
  free_pushes_.pop_back();
  pushes_[index] = notification;
  pushes_[index].key = world_.keys[world_.key_index(notification.key)];
  world_.schedule_in(delay(connection, connection.last_reply, false), Due::push, connection.client,
                     index, connection.epoch);
}

void Network::push(const ScheduledEvent& event) {
  const Notification notification = pushes_[event.index];
  free_pushes_.push_back(event.index);
  if (event.epoch != connections_[event.client]->epoch) return;
  handler_.notified(event.client, notification);
}

// The store carries out the first few of the requests on their way, and none of the others.
void Network::disconnect(std::uint32_t client, Clock::duration length) {
  Connection& connection = *connections_[client];
  if (!connection.up) return;
  handler_.disturbed(client);
  world_.note(client, "disconnected");
  connection.up = false;
  drop_batch(connection);
  std::size_t arrive = world_.random.below(connection.open.size() + 1);
  for (const std::uint32_t index : std::vector<std::uint32_t>(connection.open)) {
    Packet& packet = packets_[index];
    if (dies_with_connection(packet) && !packet.applied && !packet.dropped) {
      if (arrive > 0) apply(index);
      packet.dropped = true;
    }
    if (arrive > 0) --arrive;
    schedule(index, Clock::duration{}, Due::timeout);
  }
  ++connection.epoch;
  store_.unsubscribe(connection);
  Notification down;
  down.kind = Notification::Kind::link_down;
  handler_.notified(client, down);
  world_.schedule_in(length, Due::reconnect, client, 0, connection.epoch);
}

void Network::reconnect(const ScheduledEvent& event) {
  Connection& connection = *connections_[event.client];
  if (connection.up || event.epoch != connection.epoch) return;
  handler_.disturbed(event.client);
  world_.note(event.client, "connected");
  connection.up = true;
  for (const Request& request : connection.subscriptions) (void)store_.apply(request, &connection);
  Notification up;
  up.kind = Notification::Kind::link_up;
  handler_.notified(event.client, up);
}

void Network::repair(std::uint32_t client) {
  const Connection& connection = *connections_[client];
  if (!connection.up) reconnect({{}, 0, Due::reconnect, client, 0, connection.epoch});
}

void Network::replace_process(std::uint32_t client, std::array<std::uint64_t, 2> space) {
  Connection& connection = *connections_[client];
  for (const std::uint32_t index : connection.open) {
    Packet& packet = packets_[index];
    packet.original = nullptr;
    if (!dies_with_connection(packet)) continue;
    packet.dropped = packet.dropped || world_.random.percent(50) || is_subscription(packet.request);
  }
  connection.open.clear();
  drop_batch(connection);
  ++connection.epoch;
  connection.subscriptions.clear();
  connection.up = true;
  connection.id_space = space;
  store_.unsubscribe(connection);
}

void Network::record_subscription(Connection& connection, const Request& request) {
  if (!is_subscription(request)) return;
  std::erase_if(connection.subscriptions, [&](const Request& each) {
    return each.key == request.key && each.id == request.id && each.queues == request.queues;
  });
  if (request.verb == Verb::subscribe) connection.subscriptions.push_back(request);
}

Clock::duration Network::delay(Connection& connection, Clock::duration& last, bool is_spared) {
  const Scenario& scenario = world_.scenario;
  Clock::duration length = world_.random.between(std::chrono::microseconds(50), scenario.slowest);
  if (!is_spared && world_.random.percent(scenario.delay_percent)) {
    length += world_.random.between(milliseconds(20), milliseconds(1'500));
    handler_.disturbed(connection.client);
  }
  if (!scenario.settings.in_order) return length;
  last = std::max(last, world_.now + length);
  return last - world_.now;
}

/// No fault befalls it.
bool Network::spared(const Request& request) const noexcept {
  return world_.faults_stopped || is_subscription(request);
}

bool Network::dies_with_connection(const Packet& packet) const noexcept {
  return world_.scenario.settings.in_order || is_subscription(packet.request);
}

// A batch keeps its packets until the last of its messages has arrived.
void Network::schedule(std::uint32_t index, Clock::duration delay, Due due) {
  ++packets_[index].events;
  if (due != Due::timeout) {
    for (const std::uint32_t each : packets_[index].together) ++packets_[each].events;
  }
  world_.schedule_in(delay, due, packets_[index].client, index);
}

void Network::release_message(std::uint32_t index) {
  const std::vector<std::uint32_t> together = packets_[index].together;
  for (const std::uint32_t each : together) release(each);
  release(index);
}

/// One of the packet's events occurred.
void Network::release(std::uint32_t index) {
  Packet& packet = packets_[index];
  if (--packet.events != 0) return;
  std::erase(connections_[packet.client]->open, index);
  free_.push_back(index);
}

std::uint32_t Network::new_packet() {
  if (free_.empty()) {
    packets_.emplace_back();
    return static_cast<std::uint32_t>(packets_.size() - 1);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  return index;
}

}  // namespace latchkey::inline v1::sim
