// A quorum as one backend: its description, notifications of the servers, and fork.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quorum/quorum_backend.hpp"

namespace latchkey::inline v1::detail::quorum {

Capabilities QuorumBackend::capabilities() const noexcept {
  Capabilities offered;
  offered.read_write = offered.in_order = offered.expires = true;
  offered.replica_acknowledgement = true;
  for (const auto& server : servers_) {
    const Capabilities its = server->capabilities();
    offered.reentrant = offered.reentrant && its.reentrant;
    offered.read_write = offered.read_write && its.read_write;
    offered.in_order = offered.in_order && its.in_order;
    offered.expires = offered.expires && its.expires;
    offered.min_lease = std::max(offered.min_lease, its.min_lease);
    offered.max_lease = std::min(offered.max_lease, its.max_lease);
    offered.lease_granularity = std::max(offered.lease_granularity, its.lease_granularity);
    if (its.lifetime == Capabilities::Lifetime::per_session) offered.lifetime = its.lifetime;
    offered.batches_checks = offered.batches_checks || its.batches_checks;
    offered.replica_acknowledgement =
        offered.replica_acknowledgement && its.replica_acknowledgement;
  }
  return offered;
}

void QuorumBackend::cork() noexcept {
  for (const auto& server : servers_) server->cork();
}

void QuorumBackend::uncork() noexcept {
  for (const auto& server : servers_) server->uncork();
}

std::string QuorumBackend::describe() const {
  std::string text = "quorum of";
  for (const std::string& name : names_) text += ' ' + name;
  return text;
}

std::string QuorumBackend::warning() const {
  std::string text;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    const std::string its = servers_[server]->warning();
    if (its.empty()) continue;
    if (!text.empty()) text += "; ";
    text += names_[server] + ": " + its;
  }
  return text;
}

// The name of a server, with the name of the node if the server has several.
std::string QuorumBackend::name_of(std::size_t server, std::string_view within) const {
  return within.empty() ? names_[server] : names_[server] + ' ' + std::string(within);
}

std::vector<Connection> QuorumBackend::connections() const {
  std::vector<Connection> all;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    for (Connection& its : servers_[server]->connections()) {
      its.server = name_of(server, its.server);
      all.push_back(std::move(its));
    }
  }
  return all;
}

void QuorumBackend::notified(std::size_t server, const Notification& notification) noexcept {
  using Kind = Notification::Kind;
  const bool of_connection =
      notification.kind == Kind::link_down || notification.kind == Kind::link_up;
  if (!of_connection && notification.kind != Kind::warning) return;
  try {
    const std::string name = name_of(server, notification.server);
    std::vector<Sink*> sinks;
    {
      const Lock lock(mutex_);
      sinks = sinks_;
    }
    Notification its = notification;
    its.server = name;
    for (Sink* const sink : sinks) {
      ++completions_;
      sink->notified(its);
    }
  } catch (const std::bad_alloc&) {
    // This notification is lost; the connection's next change is reported.
  }
}

void QuorumBackend::forget_parent() noexcept {
  for (const auto& server : servers_) server->forget_parent();
  known_.clear();
  operations_.clear();
  compensations_.clear();
  writers_.clear();
  answers_.clear();
  sinks_.clear();
  std::ranges::fill(awaited_, 0U);
  std::ranges::fill(slow_, 0U);
  std::ranges::fill(missed_releases_, 0U);
  space_ = HoldId::new_space();
}

}  // namespace latchkey::inline v1::detail::quorum
