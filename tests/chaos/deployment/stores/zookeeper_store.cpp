// The campaign on ZooKeeper.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/stores/store_deployment.hpp"
#include "stores/zookeeper/zookeeper_server.hpp"

namespace latchkey::chaos {
namespace {

/// The lines that name ephemeral nodes, by session.
std::string nodes_left(const tests::ZooKeeperServer& server, bool /*abandoned*/) {
  const std::string dump = server.ask("dump");
  return dump.find("chaos") != std::string::npos ? dump : std::string();
}

}  // namespace

// Sessions end during the longer stops of a client and of the server.
std::unique_ptr<Deployment> make_zookeeper() {
  using ZooKeeper = StoreDeployment<tests::ZooKeeperServer>;
  return std::make_unique<ZooKeeper>(ZooKeeper::Store{.before_port = "zookeeper://127.0.0.1:",
                                                      .after_port = "/?session=2s",
                                                      .limits = {.reply = store_reply},
                                                      .tokens_are_times = false,
                                                      .keys_left = nodes_left});
}

}  // namespace latchkey::chaos
