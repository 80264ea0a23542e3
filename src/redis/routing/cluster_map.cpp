// Which node of a cluster a request goes to: the slot map, and nodes that come and go.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "redis/routing/cluster_router.hpp"
#include "redis/session/session.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using namespace std::chrono_literals;

/// Between two queries of a slot map that does not change.
constexpr Clock::duration shortest_pause = 50ms, longest_pause = 1s;
/// How long a node without slots is kept: another node may redirect more requests to it.
constexpr auto kept_for = 3s;

/// The key that decides which server a request goes to.
std::string_view key_of(const Request& request) noexcept {
  const bool several = request.verb == Verb::acquire_all && !request.members.empty();
  return several ? request.members.front().key : request.key;
}

}  // namespace

ClusterRouter::ClusterRouter(RedisUri uri, const TlsContext* tls, Session::Settings settings)
    : uri_(std::move(uri)),
      tls_(tls),
      settings_(std::move(settings)),
      owners_(slot_count, nullptr),
      known_(uri_.endpoints) {
  for (const RedisUri::Endpoint& endpoint : uri_.endpoints) connection_to(endpoint);
}

ServerConnection& ClusterRouter::connection_to(const RedisUri::Endpoint& endpoint) {
  const auto found = std::ranges::find(connections_, endpoint,
                                       [](const auto& each) { return each->uri.endpoint; });
  if (found != connections_.end()) {
    (*found)->needed_until = later(now_, kept_for);
    return **found;
  }
  Session::Settings settings = settings_;
  settings.endpoint = endpoint;
  settings.seed += connections_.size();
  connections_.push_back(
      std::make_unique<ServerConnection>(uri_.server_at(endpoint), tls_, std::move(settings)));
  connections_.back()->needed_until = later(now_, kept_for);
  return *connections_.back();
}

void ClusterRouter::assign_slot(std::uint16_t slot, ServerConnection& owner, TimePoint now) {
  ServerConnection* const before = std::exchange(owners_[slot], &owner);
  if (before == &owner) return;
  ++owner.slots;
  owner.served = true;
  owner.session.serves(true);
  if (before != nullptr) {
    --before->slots;
    before->session.serves(before->slots > 0);
    return move_off(*before, &owner, now);
  }
  // The slot had no owner, so any connection may have its subscriptions.
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    if (connections_[index]->session.listens()) move_off(*connections_[index], nullptr, now);
  }
}

void ClusterRouter::apply_map(const SlotMap& map, TimePoint now) {
  if (map.ranges.empty()) return;  // the node has not learnt the map itself
  std::vector<ServerConnection*> owners(slot_count, nullptr);
  known_ = uri_.endpoints;
  for (const SlotMap::Range& range : map.ranges) {
    ServerConnection& owner = connection_to(range.master);
    for (std::size_t slot = range.first; slot <= range.last; ++slot) owners[slot] = &owner;
    known_.push_back(range.master);
  }
  std::ranges::copy(map.replicas, std::back_inserter(known_));
  has_map_ = true;
  set_owners(std::move(owners), now);
}

void ClusterRouter::set_owners(std::vector<ServerConnection*> owners, TimePoint now) {
  const bool changed = owners != owners_;
  const std::vector<ServerConnection*> before = std::exchange(owners_, std::move(owners));
  for (const auto& each : connections_) each->slots = 0;
  for (ServerConnection* const owner : owners_) {
    if (owner != nullptr) ++owner->slots;
  }
  for (const auto& each : connections_) each->session.serves(each->slots > 0);
  wants_map_ = misses_an_owner(now) || std::ranges::find(owners_, nullptr) != owners_.end();
  if (changed || !wants_map_) query_pause_ = {};
  if (!changed) return;
  delayed_.retry_all(now);
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    ServerConnection& loser = *connections_[index];
    const auto had = std::ranges::find(before, &loser);
    move_off(loser, had != before.end() ? owners_[std::size_t(had - before.begin())] : nullptr,
             now);
  }
}

std::uint16_t ClusterRouter::slot_for(const Request& request) const noexcept {
  if (request.part == nullptr) return slot_of(key_of(request));
  return static_cast<std::uint16_t>(request.part->cursor.part % owners_.size());
}

ServerConnection* ClusterRouter::owner_of(const Request& request) const noexcept {
  return owners_[slot_for(request)];
}

// Channels and unsent requests go to the new owners of their slots. `successor` is the new owner of
// the loser's first slot.
void ClusterRouter::move_off(ServerConnection& loser, ServerConnection* successor, TimePoint now) {
  const auto owner_of_channel = [&](std::string_view name) -> Session* {
    ServerConnection* const owner = owners_[slot_of(name)];
    return owner != nullptr ? &owner->session : nullptr;
  };
  loser.session.move_channels(owner_of_channel, now);
  if (loser.served && loser.slots == 0 && successor != nullptr)
    successor->session.inherit(loser.session);
  loser.served = loser.slots > 0;
  move_requests_off(loser, now);
}

void ClusterRouter::move_requests_off(ServerConnection& loser, TimePoint now) {
  const auto moves = [&](const Request& request) {
    return request.verb == Verb::list ? loser.slots == 0 : owner_of(request) != &loser;
  };
  for (const QueuedRequest& each : loser.session.take_unsent(moves)) {
    try {
      route(each, now);
    } catch (const std::bad_alloc&) {
      end(*each.request, *each.sink, "out of memory");
    }
  }
}

void ClusterRouter::want_map(TimePoint now) noexcept {
  if (wants_map_) return;
  wants_map_ = true;
  query_at_ = std::max(now, query_at_);
}

void ClusterRouter::query_map(TimePoint now) {
  query_pause_ = std::clamp(2 * query_pause_, shortest_pause, longest_pause);
  query_at_ = now + query_pause_;
  for (std::size_t step = 1; step <= connections_.size(); ++step) {
    Session& session = connections_[(last_queried_ + step) % connections_.size()]->session;
    if (session.stage() != Session::Stage::up || session.is_silent(now)) continue;
    last_queried_ += step;
    return session.request_slots(now);
  }
  if (has_map_) connect_to_known_node(now);
}

// No connected node replies. A replica, or a node that had no slots, may know the map.
void ClusterRouter::connect_to_known_node(TimePoint now) {
  const auto is_probe = [](const auto& each) {
    return each->slots == 0 && each->session.stage() != Session::Stage::down;
  };
  if (std::ranges::any_of(connections_, is_probe)) return;
  for (std::size_t step = 1; step <= known_.size(); ++step) {
    const RedisUri::Endpoint& endpoint = known_[(last_probed_ + step) % known_.size()];
    const auto leads_there = [&](const auto& each) { return each->uri.endpoint == endpoint; };
    if (std::ranges::any_of(connections_, leads_there)) continue;
    last_probed_ += step;
    connection_to(endpoint).needed_until = later(now, settings_.timeout);
    return;
  }
}

// A node that is being connected to for the first time is not missing yet.
bool ClusterRouter::misses_an_owner(TimePoint now) const noexcept {
  return !has_map_ || std::ranges::any_of(connections_, [&](const auto& each) {
    return each->slots > 0 &&
           (each->session.last_failure() != nullptr || each->session.is_silent(now));
  });
}

bool ClusterRouter::keeps(const ServerConnection& connection) const noexcept {
  return !has_map_ || connection.slots > 0 || connection.needed_until > now_ ||
         connection.session.listens() || connection.session.unanswered() > 0;
}

// A node that has lost its slots still redirects its last requests, as long as it replies at all.
void ClusterRouter::retire_useless(TimePoint now) {
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    ServerConnection& connection = *connections_[index];
    if (!has_map_ || connection.slots > 0) continue;
    if (!keeps(connection) || connection.session.is_silent(now)) connection.session.retire();
    if (connection.session.stage() == Session::Stage::down && connection.session.unanswered() > 0) {
      move_requests_off(connection, now);
    }
  }
}

std::unique_ptr<ServerConnection> ClusterRouter::drop_idle() noexcept {
  const auto idle = std::ranges::find_if(connections_, [&](const auto& each) {
    return each->session.stage() == Session::Stage::down && !each->session.has_news() &&
           !keeps(*each);
  });
  if (idle == connections_.end()) return nullptr;
  std::unique_ptr<ServerConnection> dropped = std::move(*idle);
  connections_.erase(idle);
  return dropped;
}

Router::Start ClusterRouter::start(Failure& why) {
  bool in_progress = false, all_failed = true;
  for (const auto& each : connections_) {
    if (has_map_ && each->slots == 0) continue;
    const Failure* const failure = each->session.last_failure();
    const bool up = each->session.stage() == Session::Stage::up;
    if (failure != nullptr && (failure->permanent || why.text.empty())) {
      why = {failure->permanent, each->uri.endpoint.text() + ": " + failure->text};
    }
    if (failure != nullptr && failure->permanent) return Start::failed;
    in_progress = in_progress || (!up && failure == nullptr);
    all_failed = all_failed && failure != nullptr;
  }
  if (all_failed) return Start::failed;
  return in_progress || !has_map_ ? Start::in_progress : Start::settled;
}

}  // namespace latchkey::inline v1::detail::redis
