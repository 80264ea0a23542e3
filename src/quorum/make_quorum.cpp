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
  Clock& clock = options.clock != nullptr ? *options.clock : Clock::system();
  return std::make_unique<detail::quorum::QuorumBackend>(std::move(servers), clock);
}

}  // namespace latchkey::inline v1
