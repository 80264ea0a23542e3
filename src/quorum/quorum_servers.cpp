// A quorum as one backend: how it is made and described, its drive, notifications, and fork.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <latchkey/quorum.hpp>

#include "quorum/quorum_backend.hpp"

namespace latchkey::inline v1::detail::quorum {
namespace {

using std::chrono::milliseconds;

/// How long the waiting thread drives one server before it serves the others.
constexpr milliseconds slice{1};
/// How long the waiting thread parks between two polls if no undecided operation waits for a reply.
constexpr milliseconds idle_slice{5};

}  // namespace

Capabilities QuorumBackend::capabilities() const noexcept {
  Capabilities offered;
  offered.read_write = offered.in_order = offered.expires = true;
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
    std::string its = servers_[server]->warning();
    if (const Lock lock(mutex_); repeated_[server]) {
      its = "it is one of the servers before it, and has no vote";
    }
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

// Replies that have arrived count, even if this thread had no processor for a while: the servers
// are driven before anything expires.
void QuorumBackend::drive(Parker& parker, Clock::time_point until) {
  const std::uint64_t unparks = parker.unparks();
  if (parker.park_until(clock_, Clock::time_point::min())) return;
  const unsigned before = completions_;
  Later due;
  {
    const Lock lock(mutex_);
    due.answers.splice(due.answers.end(), answers_);
    repeat_releases(due);
  }
  carry_out(due);
  if (completions_ == before) {
    try {
      drive_servers(parker, until, unparks);
    } catch (const std::bad_alloc&) {
      parker.park_until(clock_, std::min(until, later(clock_.now(), slice)));
    }
  }
  Later expired;
  {
    const Lock lock(mutex_);
    expired.answers.splice(expired.answers.end(), answers_);  // to requests that sinks submitted
    expire(expired);
  }
  carry_out(expired);
}

// Polls all servers with a pending reply, blocks in one of them for a short time, and returns. A
// poll may consume an unpark that is meant for the caller, so the unparks are counted.
void QuorumBackend::drive_servers(Parker& parker, Clock::time_point until, std::uint64_t unparks) {
  const unsigned before = completions_;
  Round round;
  look_at_servers(round);
  if (round.servers.empty()) {
    const auto pause = std::max(round.repeat_at, later(clock_.now(), idle_slice));
    return static_cast<void>(parker.park_until(clock_, std::min(until, pause)));
  }
  const bool undecided = round.servers[0].waited_for;
  const std::span all(round.servers.data(), round.servers.size());
  for (const PendingServer& each : all.subspan(undecided ? 1 : 0)) poll(each.server, parker);
  if (completions_ != before || parker.unparks() != unparks) return;
  const Clock::time_point now = clock_.now();
  if (undecided) {
    const auto end = std::min({until, round.deadline, later(now, slice)});
    servers_[all.front().server]->drive(parker, end);
  } else {
    parker.park_until(clock_, std::min(until, later(now, idle_slice)));
  }
}

// A server without memory for its drive is driven again soon; the others need not wait for it.
void QuorumBackend::poll(std::size_t server, Parker& parker) noexcept {
  try {
    servers_[server]->drive(parker, clock_.now());
  } catch (const std::bad_alloc&) {
    return;
  }
}

void QuorumBackend::look_at_servers(Round& round) {
  using Stage = SubRequest::Stage;
  const Lock lock(mutex_);
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    round.servers.push_back({false, slow_[server], server});
  }
  for (const Operation& one : operations_) {
    round.deadline = std::min(round.deadline, one.deadline);
    for (const SubRequest& sub_request : one.sub_requests) {
      const bool matters = one.decided ? sub_request.awaited : !sub_request.replied;
      const bool waited_for = matters && sub_request.stage == Stage::under_way;
      if (waited_for) round.servers[sub_request.server].waited_for = true;
    }
  }
  for (const ReleaseBacklog& backlog : repeats_) {
    round.repeat_at = std::min(round.repeat_at, backlog.due());
  }
  const auto pending = std::ranges::remove_if(
      round.servers, [&](const PendingServer& each) { return awaited_[each.server] == 0; });
  round.servers.shorten(round.servers.size() - pending.size());
  std::ranges::sort(round.servers, {}, [](const PendingServer& each) {
    return std::tuple(!each.waited_for, each.slow, each.server);
  });
}

void QuorumBackend::expire(Later& later) noexcept {
  const Clock::time_point now = clock_.now();
  for (auto next = operations_.begin(); next != operations_.end();) {
    Operation& one = *next++;  // it may leave the list
    if (now < one.deadline) continue;
    if (one.decided) {
      complete(one, later);
    } else {
      one.ballot.close(one.allowed);
      decide(one, later);
    }
    end_if_done(one, later);
  }
}

void QuorumBackend::notified(std::size_t server, const Notification& notification) noexcept {
  using Kind = Notification::Kind;
  const bool of_connection =
      notification.kind == Kind::link_down || notification.kind == Kind::link_up;
  if (!of_connection && notification.kind != Kind::warning) return;
  if (notification.kind == Kind::link_up) {
    const Lock lock(mutex_);
    slow_[server] = 0;
    repeats_[server].send_soon(clock_.now());
  }
  try {
    const bool warns = notification.kind == Kind::link_up && find_repeated_servers();
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
      if (warns) sink->notified({.kind = Kind::warning});
    }
  } catch (const std::bad_alloc&) {
    // This notification is lost; the connection's next change is reported.
  }
}

bool QuorumBackend::find_repeated_servers() {
  std::vector<std::string> identities;
  identities.reserve(servers_.size());
  for (const auto& server : servers_) identities.push_back(server->identity());
  const Lock lock(mutex_);
  const std::vector<bool> known = repeated_;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (identities[server].empty()) continue;  // as long as it is down it keeps what was found
    const auto before = identities.begin() + static_cast<std::ptrdiff_t>(server);
    repeated_[server] = std::find(identities.begin(), before, identities[server]) != before;
  }
  return repeated_ != known;
}

void QuorumBackend::forget_parent() noexcept {
  for (const auto& server : servers_) server->forget_parent();
  known_.clear();
  operations_.clear();
  delivered_.clear();
  for (ReleaseBacklog& each : repeats_) each.clear();
  gates_.clear();
  answers_.clear();
  sinks_.clear();
  std::ranges::fill(awaited_, 0U);
  std::ranges::fill(slow_, 0U);
  std::ranges::fill(missed_releases_, 0U);
  space_ = HoldId::new_space();
}

}  // namespace latchkey::inline v1::detail::quorum

namespace latchkey::inline v1 {

std::unique_ptr<Backend> make_quorum(std::vector<std::unique_ptr<Backend>> servers,
                                     const Options& options) {
  if (servers.size() < 3 || servers.size() % 2 == 0) {
    throw std::invalid_argument("a quorum has an odd number of servers, 3 or more: these are " +
                                std::to_string(servers.size()));
  }
  for (std::size_t server = 0; server < servers.size(); ++server) {
    const std::string identity = servers[server]->identity();
    if (identity.empty()) continue;
    for (std::size_t before = 0; before < server; ++before) {
      if (servers[before]->identity() != identity) continue;
      throw std::invalid_argument("quorum: '" + servers[before]->describe() + "' and '" +
                                  servers[server]->describe() +
                                  "' are one server, which would vote twice: both are '" +
                                  identity + "'; expected independent servers");
    }
  }
  Clock& clock = options.clock != nullptr ? *options.clock : Clock::system();
  return std::make_unique<detail::quorum::QuorumBackend>(std::move(servers), clock);
}

}  // namespace latchkey::inline v1
