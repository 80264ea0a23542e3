// The links between clients and the store: delay, loss, repetition, disorder, cuts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/simulator/network_user.hpp"
#include "testing/simulator/packet.hpp"
#include "testing/simulator/store.hpp"
#include "testing/simulator/world.hpp"

namespace latchkey::sim {

/// In order: a connection like TCP's, where nothing is lost, repeated or overtaken, but the link
/// may be cut, and what runs never runs after the cut. Otherwise each message goes its own way.
/// Subscriptions belong to the connection in both: they end with it, and come back with it.
class Network {
 public:
  Network(World& world, Store& store, const std::vector<std::string>& keys, NetworkUser& user)
      : world_(world), store_(store), keys_(keys), user_(user) {
    for (std::uint32_t client = 0; client < world.plan.clients; ++client) {
      links_.push_back(std::make_unique<Link>(*this, client));
    }
  }

  void submit(std::uint32_t client, Request& request) {
    Link& link = *links_[client];
    const std::uint32_t index = take();
    Packet& packet = packets_[index];
    packet.request = request;
    packet.original = &request;
    packet.client = client;
    packet.key = key_index(request.key);
    packet.request.key = keys_[packet.key];
    packet.members.assign(request.members.begin(), request.members.end());
    for (Member& member : packet.members) member.key = keys_[key_index(member.key)];
    packet.request.members = packet.members;
    packet.epoch = link.epoch;
    packet.applied = packet.dropped = false;
    link.open.push_back(index);
    remember(link, packet);
    const Clock::duration patience = world_.plan.settings.command_timeout;
    if (!link.up) {
      packet.dropped = true;
      expect(index, world_.random.percent(50) ? milliseconds(1) : patience, Due::timeout);
      return;
    }
    expect(index, patience, Due::timeout);
    send(link, index);
  }

  Outcome answer_at_once(std::uint32_t client, const Request& request) {
    return store_.apply(request, links_[client].get());
  }

  void deliver(std::uint32_t index) {
    Packet& packet = packets_[index];
    if (!packet.dropped && (!packet.applied || !world_.plan.settings.in_order)) apply(index);
    settle(index);
  }

  void reply(std::uint32_t index) {
    Packet& packet = packets_[index];
    if (packet.original != nullptr && packet.epoch == links_[packet.client]->epoch) {
      complete(packet, std::move(packet.outcome));
    }
    settle(index);
  }

  void timeout(std::uint32_t index) {
    Packet& packet = packets_[index];
    if (packet.original != nullptr) {
      user_.troubled(packet.client);
      complete(packet, Outcome{});
    }
    settle(index);
  }

  void push(const ScheduledEvent& due) {
    if (due.epoch != links_[due.client]->epoch) return;
    // The low half is the key, the high half the number of the hold.
    Notification notification;
    notification.key = keys_[due.index & 0xFF];
    notification.id.number = due.index >> 8;
    if (notification.id.number != 0) notification.id.space = links_[due.client]->space;
    user_.notified(due.client, notification);
  }

  /// Everything under way is answered `unknown`; the link comes back after `length`.
  void cut(std::uint32_t client, Clock::duration length) {
    Link& link = *links_[client];
    if (!link.up) return;
    user_.troubled(client);
    world_.note(client, "link_down");
    link.up = false;
    std::size_t run = world_.random.below(link.open.size() + 1);
    for (const std::uint32_t index : std::vector<std::uint32_t>(link.open)) {
      Packet& packet = packets_[index];
      const bool bound = world_.plan.settings.in_order || of_connection(packet.request);
      if (bound && !packet.applied && !packet.dropped) {
        if (run > 0) apply(index);
        packet.dropped = true;
      }
      if (run > 0) --run;
      expect(index, Clock::duration{}, Due::timeout);
    }
    ++link.epoch;
    store_.forget(link);
    Notification down;
    down.kind = Notification::Kind::link_down;
    user_.notified(client, down);
    world_.enter(length, Due::link_up, client, 0, link.epoch);
  }

  void come_up(const ScheduledEvent& due) {
    Link& link = *links_[due.client];
    if (link.up || due.epoch != link.epoch) return;
    user_.troubled(due.client);
    world_.note(due.client, "link_up");
    link.up = true;
    for (const Request& request : link.subscriptions) (void)store_.apply(request, &link);
    Notification up;
    up.kind = Notification::Kind::link_up;
    user_.notified(due.client, up);
  }

  void heal(std::uint32_t client) {
    Link& link = *links_[client];
    if (!link.up) come_up({{}, 0, Due::link_up, client, 0, link.epoch});
  }

  /// The process is gone: its answers reach nobody, a new one has a link of its own.
  void crash(std::uint32_t client, std::array<std::uint64_t, 2> space) {
    Link& link = *links_[client];
    for (const std::uint32_t index : link.open) {
      packets_[index].original = nullptr;
      if (world_.plan.settings.in_order || of_connection(packets_[index].request)) {
        packets_[index].dropped = packets_[index].dropped || world_.random.percent(50) ||
                                  of_connection(packets_[index].request);
      }
    }
    link.open.clear();
    ++link.epoch;
    link.subscriptions.clear();
    link.up = true;
    link.space = space;
    store_.forget(link);
  }

  void set_space(std::uint32_t client, std::array<std::uint64_t, 2> space) {
    links_[client]->space = space;
  }

  [[nodiscard]] std::uint32_t key_index(std::string_view key) const noexcept {
    return static_cast<std::uint32_t>(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
  }

 private:
  struct Link final : detail::Subscriber {
    Link(Network& its_network, std::uint32_t number) : network(its_network), client(number) {}
    void tell(const Notification& notification) noexcept override {
      network.told(*this, notification);
    }

    Network& network;
    std::uint32_t client;
    bool up = true;
    std::uint64_t epoch = 1;
    std::array<std::uint64_t, 2> space{};
    Clock::duration last_delivery{};
    Clock::duration last_reply{};
    std::vector<Request> subscriptions;
    std::vector<std::uint32_t> open;
  };

  static bool of_connection(const Request& request) noexcept {
    return request.verb == Verb::subscribe || request.verb == Verb::unsubscribe;
  }

  [[nodiscard]] bool lucky(const Request& request) const noexcept {
    return world_.calm || of_connection(request);
  }

  void send(Link& link, std::uint32_t index) {
    const Plan& plan = world_.plan;
    const Request& request = packets_[index].request;
    const bool spared = lucky(request);
    if (!spared && world_.random.percent(plan.loses)) {
      user_.troubled(link.client);
      world_.note(link.client, "lost", to_string(request.verb), request.id.number);
      return;
    }
    expect(index, delay(link, link.last_delivery, spared), Due::deliver);
    if (!spared && world_.random.percent(plan.doubles)) {
      expect(index, delay(link, link.last_delivery, spared), Due::deliver);
    }
  }

  Clock::duration delay(Link& link, Clock::duration& last, bool spared) {
    using std::chrono::microseconds;
    Clock::duration length = world_.random.between(microseconds(50), world_.plan.slowest);
    if (!spared && world_.random.percent(world_.plan.delays)) {
      length += world_.random.between(milliseconds(20), milliseconds(1'500));
      user_.troubled(link.client);
    }
    if (!world_.plan.settings.in_order) return length;
    last = std::max(last, world_.now + length);
    return last - world_.now;
  }

  void apply(std::uint32_t index) {
    Packet& packet = packets_[index];
    Link& link = *links_[packet.client];
    const bool first = !packet.applied;
    Outcome outcome = store_.apply(packet.request, &link);
    packet.applied = true;
    world_.note(packet.client, first ? "runs" : "runs again", to_string(packet.request.verb),
                packet.request.id.number, static_cast<std::int64_t>(outcome.kind));
    const bool awaited = first && packet.original != nullptr;
    user_.applied(packet.client, packet.request, outcome, awaited);
    if (!awaited) return;
    packet.outcome = std::move(outcome);
    if (!lucky(packet.request) && world_.random.percent(world_.plan.loses)) {
      user_.troubled(packet.client);
      world_.note(packet.client, "reply lost", to_string(packet.request.verb),
                  packet.request.id.number);
      return;
    }
    expect(index, delay(link, link.last_reply, lucky(packet.request)), Due::reply);
  }

  void told(Link& link, const Notification& notification) noexcept {
    const bool lost = !world_.calm && world_.random.percent(world_.plan.loses);
    if (lost) return;
    const auto number = static_cast<std::uint32_t>(notification.id.number);
    world_.enter(delay(link, link.last_reply, false), Due::push, link.client,
                 key_index(notification.key) + (number << 8), link.epoch);
  }

  void remember(Link& link, const Packet& packet) {
    if (!of_connection(packet.request)) return;
    std::erase_if(link.subscriptions, [&](const Request& each) {
      return each.key == packet.request.key && each.id == packet.request.id;
    });
    if (packet.request.verb == Verb::subscribe) link.subscriptions.push_back(packet.request);
  }

  void complete(Packet& packet, Outcome outcome) {
    Request& original = *std::exchange(packet.original, nullptr);
    const auto index = static_cast<std::uint32_t>(&packet - packets_.data());
    // In order, what was not yet delivered must still be found when the link is cut.
    if (packet.applied || packet.dropped || !world_.plan.settings.in_order) {
      std::erase(links_[packet.client]->open, index);
    }
    const std::uint32_t client = packet.client;
    world_.note(client, "answer", to_string(original.verb), original.id.number,
                static_cast<std::int64_t>(outcome.kind));
    user_.answered(client, original, std::move(outcome));  // may submit: `packet` may have moved
  }

  void expect(std::uint32_t index, Clock::duration in, Due due) {
    ++packets_[index].due;
    world_.enter(in, due, packets_[index].client, index);
  }

  void settle(std::uint32_t index) {
    Packet& packet = packets_[index];
    if (--packet.due != 0) return;
    std::erase(links_[packet.client]->open, index);
    free_.push_back(index);
  }

  std::uint32_t take() {
    if (free_.empty()) {
      packets_.emplace_back();
      return static_cast<std::uint32_t>(packets_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }

  World& world_;
  Store& store_;
  const std::vector<std::string>& keys_;
  NetworkUser& user_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<Packet> packets_;
  std::vector<std::uint32_t> free_;
};

}  // namespace latchkey::sim
