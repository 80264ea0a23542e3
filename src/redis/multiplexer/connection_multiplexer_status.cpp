// The connections to the servers of one deployment: what is reported about them.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <string>
#include <vector>

#include "redis/multiplexer/connection_multiplexer.hpp"

namespace latchkey::inline v1::detail::redis {

bool ConnectionMultiplexer::keeps_order() const noexcept {
  const ScopedLock lock(state_.mutex);
  return state_.router->keeps_order();
}

std::string ConnectionMultiplexer::identity() const {
  if (uri_.deployment == RedisUri::Deployment::cluster) return {};
  const ScopedLock lock(state_.mutex);
  const auto connections = state_.router->connections();
  return connections.empty() ? std::string() : connections.front()->session.run_id();
}

std::string ConnectionMultiplexer::warning() const {
  const ScopedLock lock(state_.mutex);
  const auto connections = state_.router->connections();
  const bool silent = std::ranges::all_of(connections, [](const auto& connection) {
    return connection->session.stage() != Session::Stage::up &&
           connection->session.last_failure() == nullptr;
  });
  if (silent) return std::string(silence_warning);
  for (const auto& connection : connections) {
    const Session& session = connection->session;
    const std::string server =
        connections.size() == 1 ? std::string() : connection->uri.endpoint.text() + ": ";
    if (const Failure* const failure = session.last_failure()) return warning_of(*failure, server);
    if (!session.warning().empty()) return server + session.warning();
  }
  return {};
}

std::vector<Connection> ConnectionMultiplexer::connections() const {
  const bool cluster = uri_.deployment == RedisUri::Deployment::cluster;
  std::vector<Connection> all;
  const ScopedLock lock(state_.mutex);
  for (const auto& connection : state_.router->connections()) {
    if (cluster && connection->slots == 0) continue;
    const Failure* const failure = connection->session.last_failure();
    all.push_back({connection->session.server(), connection->session.stage() == Session::Stage::up,
                   failure != nullptr ? failure->text : std::string()});
  }
  return all;
}

}  // namespace latchkey::inline v1::detail::redis
