// The connections between clients and the store: delay, loss, duplication, reordering, outages.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/protocol/check_answers.hpp"
#include "testing/simulator/store/store.hpp"
#include "testing/simulator/world/world.hpp"

namespace latchkey::inline v1::sim {

/// The network's copy of a request. The original belongs to the submitter again once it is
/// completed; the copy may reach the store later, or twice.
struct Packet {
  Request request;
  std::vector<Member> members;  // those of an acquire_all
  Request* original = nullptr;  // null once completed
  Outcome outcome;
  std::vector<std::uint32_t> together;    // the checks of a batch, of which this one is the first
  detail::redis::CheckAnswers answers{};  // to them
  std::uint32_t client = 0;
  std::uint32_t events = 0;  // scheduled events that refer to it
  std::uint64_t epoch = 0;   // its connection's epoch when it was submitted
  bool applied = false;      // the store carried it out
  bool dropped = false;      // it never reaches the store
};

/// Receives what the simulated network delivers.
class NetworkHandler {
 public:
  /// The store carried `request` out. `awaited`: its outcome may still reach the client.
  virtual void applied(std::uint32_t client, const Request& request, const Outcome& outcome,
                       bool awaited) = 0;
  /// The store granted a lock to a client that waits in line, who may be notified of it.
  virtual void granted(std::uint32_t client, const Notification& notification) = 0;
  /// The client learns the outcome of its request.
  virtual void answered(std::uint32_t client, Request& request, Outcome outcome) = 0;
  virtual void notified(std::uint32_t client, const Notification& notification) = 0;
  /// The network delayed, lost or refused something of this client just now.
  virtual void disturbed(std::uint32_t client) = 0;

 protected:
  ~NetworkHandler() = default;
};

/// If the scenario is in order, a connection behaves as TCP's: nothing is lost, duplicated or
/// overtaken, and after the connection broke nothing that was sent on it reaches the store.
/// Otherwise each message travels by itself. Subscriptions belong to the connection in both cases:
/// they end with it and are restored with it. If the scenario has common checks, those that a
/// client submits together are one message, and so is the reply.
class Network {
 public:
  Network(World& world, Store& store, NetworkHandler& handler);

  // --- for clients ---
  void submit(std::uint32_t client, Request& request);
  /// Carries the request out without any delay. For scenarios with immediate answers.
  Outcome apply_at_once(std::uint32_t client, const Request& request);
  /// Connects a new process, whose hold ids begin with `space`. Replies to its predecessor are
  /// dropped.
  void replace_process(std::uint32_t client, std::array<std::uint64_t, 2> space);

  // --- scheduled events ---
  void deliver(std::uint32_t packet);
  void reply(std::uint32_t packet);
  void send_batch(const ScheduledEvent& event);
  void time_out(std::uint32_t packet);
  void push(const ScheduledEvent& event);
  void reconnect(const ScheduledEvent& event);

  // --- faults ---
  /// Every request under way is answered `unknown`; the connection comes back after `length`.
  void disconnect(std::uint32_t client, Clock::duration length);
  /// The connection comes back now.
  void repair(std::uint32_t client);

 private:
  struct Connection final : detail::Subscriber {
    Connection(Network& its_network, std::uint32_t number) : network(its_network), client(number) {}
    void notify(const Notification& notification) noexcept override {
      network.send_push(*this, notification);
    }

    Network& network;
    std::uint32_t client;
    bool up = true;
    std::uint64_t epoch = 1;  ///< counts outages
    std::array<std::uint64_t, 2> id_space{};
    Clock::duration last_delivery{};
    Clock::duration last_reply{};
    std::vector<Request> subscriptions;
    std::vector<std::uint32_t> open;    ///< packets that may still be answered or delivered
    std::vector<std::uint32_t> checks;  ///< that are to be sent together
  };

  void send(Connection& connection, std::uint32_t index);
  void apply(std::uint32_t index);
  bool carry_out(std::uint32_t index);
  void send_reply(std::uint32_t index);
  void send_push(Connection& connection, const Notification& notification) noexcept;
  void record_subscription(Connection& connection, const Request& request);
  void complete(Packet& packet, Outcome outcome);

  // network_batches.cpp
  [[nodiscard]] bool joins_batch(const Request& request) const noexcept;
  void join_batch(Connection& connection, std::uint32_t index);
  void send_batch(Connection& connection);
  void drop_batch(Connection& connection);
  void deliver_batch(std::uint32_t first);
  void reply_to_batch(std::uint32_t first);
  void send_alone(std::uint32_t index);

  [[nodiscard]] Clock::duration delay(Connection& connection, Clock::duration& last, bool spared);
  [[nodiscard]] bool spared(const Request& request) const noexcept;
  [[nodiscard]] bool dies_with_connection(const Packet& packet) const noexcept;

  void schedule(std::uint32_t index, Clock::duration delay, Due due);
  void release(std::uint32_t index);
  void release_message(std::uint32_t index);
  [[nodiscard]] std::uint32_t new_packet();
  [[nodiscard]] std::uint32_t copy(std::uint32_t client, Request& request);

  World& world_;
  Store& store_;
  NetworkHandler& handler_;
  std::vector<std::unique_ptr<Connection>> connections_;  // one for each client
  std::vector<Packet> packets_;
  std::vector<std::uint32_t> free_;   // indices of unused packets
  std::vector<Notification> pushes_;  // on their way, or unused
  std::vector<std::uint32_t> free_pushes_;
};

}  // namespace latchkey::inline v1::sim
