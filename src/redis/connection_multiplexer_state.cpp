// Connections to servers, shared by all threads: what is said of their state.
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "redis/connection_multiplexer.hpp"

namespace latchkey::detail::redis {

std::string ConnectionMultiplexer::warning() const {
  const std::lock_guard lock(mutex_);
  const bool silent = std::ranges::all_of(router_->connections(), [](const auto& wire) {
    return wire->session.stage() != Session::Stage::up && wire->session.last_failure() == nullptr;
  });
  if (silent) return "it has not answered yet, and grants locks as soon as it does";
  for (const auto& wire : router_->connections()) {
    const Session& link = wire->session;
    const bool one = router_->connections().size() == 1;
    const std::string who = one ? std::string() : wire->uri.endpoint.text() + ": ";
    if (const Failure* const failure = link.last_failure()) {
      return who + (failure->permanent
                        ? "it refuses, and so do its locks: " + failure->text
                        : "it cannot be reached now, and grants locks as soon as it can: " +
                              failure->text);
    }
    if (!link.warning().empty()) return who + link.warning();
  }
  return {};
}

std::vector<Connection> ConnectionMultiplexer::connections() const {
  const bool cluster = uri_.deployment == RedisUri::Deployment::cluster;
  std::vector<Connection> all;
  const std::lock_guard lock(mutex_);
  for (const auto& wire : router_->connections()) {
    if (cluster && wire->slots == 0) continue;
    const Failure* const failure = wire->session.last_failure();
    all.push_back({wire->session.server(), wire->session.stage() == Session::Stage::up,
                   failure != nullptr ? failure->text : std::string()});
  }
  return all;
}

}  // namespace latchkey::detail::redis
