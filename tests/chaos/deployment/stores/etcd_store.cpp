// The campaign on etcd.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/stores/store_deployment.hpp"
#include "stores/etcd/etcd_server.hpp"

namespace latchkey::chaos {
namespace {

std::string keys_left(const tests::EtcdServer& server, bool /*abandoned*/) {
  std::string text;
  for (const std::string& key : server.keys("")) text += ' ' + key;
  return text;
}

}  // namespace

// Sessions end during the longer stops of a client and of the server.
std::unique_ptr<Deployment> make_etcd() {
  using Etcd = StoreDeployment<tests::EtcdServer>;
  return std::make_unique<Etcd>(Etcd::Store{.before_port = "etcd://127.0.0.1:",
                                            .after_port = "/?session=2s",
                                            .limits = {.reply = store_reply},
                                            .tokens_are_times = false,
                                            .keys_left = keys_left});
}

}  // namespace latchkey::chaos
