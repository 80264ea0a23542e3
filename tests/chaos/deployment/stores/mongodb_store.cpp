// The campaign on FerretDB, which speaks MongoDB's protocol.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/stores/store_deployment.hpp"
#include "stores/mongodb/ferretdb_server.hpp"

namespace latchkey::chaos {
namespace {

std::string keys_left(const tests::FerretServer& server, bool /*abandoned*/) {
  std::string text;
  for (const std::string& key : Locks::connect(server.uri()).list()) text += ' ' + key;
  return text;
}

}  // namespace

std::unique_ptr<Deployment> make_mongodb() {
  using Ferret = StoreDeployment<tests::FerretServer>;
  return std::make_unique<Ferret>(
      Ferret::Store{.before_port = "mongodb://127.0.0.1:",
                    .after_port = "/locks",
                    .limits = {.reply = store_reply,
                               .process_queue = false,
                               .turns = false,
                               .lateness = 0},  // its calls block: docs/guarantees.md
                    .keys_left = keys_left});
}

}  // namespace latchkey::chaos
