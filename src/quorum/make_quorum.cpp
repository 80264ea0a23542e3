// Combines backends into a quorum.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/quorum.hpp>

#include <stdexcept>
#include <string>
#include <utility>

#include "quorum/quorum_backend.hpp"

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
