// Which node of a cluster a request goes to: how that is found out, and how nodes come and go.
#include <algorithm>
#include <iterator>
#include <utility>

#include "redis/cluster/cluster_router.hpp"
#include "redis/session/requests.hpp"
#include "redis/session/session_moves.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

/// Between two questions for the map, while it does not change.
constexpr Clock::duration shortest_pause = 50ms, longest_pause = 1s;
/// A node without slots is kept so long: another one may send more requests there.
constexpr auto kept_for = 3s;

}  // namespace

ClusterRouter::ClusterRouter(RedisUri uri, const TlsContext* tls, Session::Settings settings)
    : uri_(std::move(uri)),
      tls_(tls),
      settings_(std::move(settings)),
      owners_(slot_count, nullptr),
      known_(uri_.places) {
  for (const RedisUri::Endpoint& place : uri_.places) wire_at(place);
}

ServerConnection& ClusterRouter::wire_at(const RedisUri::Endpoint& place) {
  const auto found =
      std::ranges::find(connections_, place, [](const auto& wire) { return wire->uri.place; });
  if (found != connections_.end()) {
    (*found)->needed_until = later(now_, kept_for);
    return **found;
  }
  Session::Settings settings = settings_;
  settings.place = place;
  settings.seed += connections_.size();
  connections_.push_back(
      std::make_unique<ServerConnection>(uri_.server_at(place), tls_, std::move(settings)));
  connections_.back()->needed_until = later(now_, kept_for);
  return *connections_.back();
}

void ClusterRouter::give(std::uint16_t slot, ServerConnection& owner, TimePoint now) {
  ServerConnection* const before = std::exchange(owners_[slot], &owner);
  if (before == &owner) return;
  ++owner.slots;
  owner.served = true;
  owner.link.serves(true);
  if (before != nullptr) {
    --before->slots;
    before->link.serves(before->slots > 0);
    return move_from(*before, &owner, now);
  }
  // Nobody had it: who listens for it may have stayed anywhere.
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    if (connections_[index]->link.listens()) move_from(*connections_[index], nullptr, now);
  }
}

void ClusterRouter::learn(const SlotMap& map, TimePoint now) {
  if (map.ranges.empty()) return;  // a node that knows nothing yet
  std::vector<ServerConnection*> owners(slot_count, nullptr);
  known_ = uri_.places;
  for (const SlotMap::Range& range : map.ranges) {
    ServerConnection& owner = wire_at(range.master);
    for (std::size_t slot = range.first; slot <= range.last; ++slot) owners[slot] = &owner;
    known_.push_back(range.master);
  }
  std::ranges::copy(map.replicas, std::back_inserter(known_));
  has_map_ = true;
  const bool changed = owners != owners_;
  const std::vector<ServerConnection*> before = std::exchange(owners_, std::move(owners));
  for (const auto& wire : connections_) wire->slots = 0;
  for (ServerConnection* const owner : owners_) {
    if (owner != nullptr) ++owner->slots;
  }
  for (const auto& wire : connections_) wire->link.serves(wire->slots > 0);
  wanted_ = in_trouble(now) || std::ranges::find(owners_, nullptr) != owners_.end();
  if (changed || !wanted_) ask_pause_ = {};
  if (!changed) return;
  for (Parked& each : parked_) each.at = now;
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    ServerConnection& loser = *connections_[index];
    const auto had = std::ranges::find(before, &loser);
    move_from(loser, had != before.end() ? owners_[std::size_t(had - before.begin())] : nullptr,
              now);
  }
}

ServerConnection* ClusterRouter::owner_of(const Request& request) const noexcept {
  return owners_[slot_of(key_of(request))];
}

// What a node has no more is asked of those that have it now; `heir` has the first of its slots.
void ClusterRouter::move_from(ServerConnection& loser, ServerConnection* heir, TimePoint now) {
  const auto link_of = [&](std::string_view name) -> Session* {
    ServerConnection* const owner = owners_[slot_of(name)];
    return owner != nullptr ? &owner->link : nullptr;
  };
  loser.link.move_channels(link_of, now);
  if (loser.served && loser.slots == 0 && heir != nullptr) heir->link.inherit(loser.link);
  loser.served = loser.slots > 0;
  move_requests(loser, now);
}

void ClusterRouter::move_requests(ServerConnection& loser, TimePoint now) {
  const auto moves = [&](const Request& request) {
    return request.verb == Verb::list ? loser.slots == 0 : owner_of(request) != &loser;
  };
  for (const QueuedRequest& each : loser.link.take_unsent(moves)) {
    try {
      route(each, now);
    } catch (const std::bad_alloc&) {
      end(*each.request, *each.sink, "out of memory");
    }
  }
}

void ClusterRouter::want_map(TimePoint now) noexcept {
  if (wanted_) return;
  wanted_ = true;
  ask_at_ = std::max(now, ask_at_);
}

void ClusterRouter::ask_for_map(TimePoint now) {
  ask_pause_ = std::clamp(2 * ask_pause_, shortest_pause, longest_pause);
  ask_at_ = now + ask_pause_;
  for (std::size_t step = 1; step <= connections_.size(); ++step) {
    ServerConnection& wire = *connections_[(asked_ + step) % connections_.size()];
    if (wire.link.stage() != Session::Stage::up || wire.link.is_silent(now)) continue;
    asked_ += step;
    return wire.link.ask_slots(now);
  }
  if (has_map_) send_scout(now);
}

// Nobody of those that serve answers: perhaps one does that did not serve.
void ClusterRouter::send_scout(TimePoint now) {
  const auto scouts = [](const auto& wire) {
    return wire->slots == 0 && wire->link.stage() != Session::Stage::down;
  };
  if (std::ranges::any_of(connections_, scouts)) return;
  for (std::size_t step = 1; step <= known_.size(); ++step) {
    const RedisUri::Endpoint& place = known_[(scouted_ + step) % known_.size()];
    const auto there = [&](const auto& wire) { return wire->uri.place == place; };
    if (std::ranges::any_of(connections_, there)) continue;
    scouted_ += step;
    wire_at(place).needed_until = later(now, settings_.timeout);
    return;
  }
}

bool ClusterRouter::in_trouble(TimePoint now) const noexcept {
  return !has_map_ || std::ranges::any_of(connections_, [&](const auto& wire) {
    // One that is being connected to for the first time is no trouble yet.
    return wire->slots > 0 && (wire->link.last_failure() != nullptr || wire->link.is_silent(now));
  });
}

bool ClusterRouter::keeps(const ServerConnection& wire) const noexcept {
  return !has_map_ || wire.slots > 0 || wire.needed_until > now_ || wire.link.listens() ||
         wire.link.unanswered() > 0;
}

// A node that serves nothing any more still says where its last requests belong, if it says
// anything.
void ClusterRouter::retire_useless(TimePoint now) {
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    ServerConnection& wire = *connections_[index];
    if (!has_map_ || wire.slots > 0) continue;
    if (!keeps(wire) || wire.link.is_silent(now)) wire.link.retire();
    if (wire.link.stage() == Session::Stage::down && wire.link.unanswered() > 0) {
      move_requests(wire, now);
    }
  }
}

std::unique_ptr<ServerConnection> ClusterRouter::drop_idle() noexcept {
  const auto idle = std::ranges::find_if(connections_, [&](const auto& wire) {
    return wire->link.stage() == Session::Stage::down && !wire->link.has_news() && !keeps(*wire);
  });
  if (idle == connections_.end()) return nullptr;
  std::unique_ptr<ServerConnection> dropped = std::move(*idle);
  connections_.erase(idle);
  return dropped;
}

Router::Start ClusterRouter::start(Failure& why) {
  bool waits = false, all_failed = true;
  for (const auto& wire : connections_) {
    if (has_map_ && wire->slots == 0) continue;
    const Failure* const failure = wire->link.last_failure();
    const bool up = wire->link.stage() == Session::Stage::up;
    if (failure != nullptr && (failure->refused || why.text.empty())) {
      why = {failure->refused, wire->uri.place.text() + ": " + failure->text};
    }
    if (failure != nullptr && failure->refused) return Start::failed;
    waits = waits || (!up && failure == nullptr);
    all_failed = all_failed && failure != nullptr;
  }
  if (all_failed) return Start::failed;
  if (waits || !has_map_) return Start::goes_on;
  return Start::settled;
}

}  // namespace latchkey::detail::redis
