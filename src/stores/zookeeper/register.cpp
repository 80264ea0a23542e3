// Makes Locks::connect take URIs of ZooKeeper.
// SPDX-License-Identifier: BSL-1.0
#include <memory>

#include <latchkey/zookeeper.hpp>

#include "backend/registry.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/zookeeper/client.hpp"

namespace latchkey::inline v1 {

void register_zookeeper() {
  using namespace detail;
  register_store("zookeeper", [](std::string_view uri, const Options& options) {
    const auto parsed = zookeeper::ZooKeeperUri::parse(uri, options.watchdog);
    return stores::drive_client(std::make_unique<zookeeper::ZooKeeperClient>(parsed, options),
                                options);
  });
}

}  // namespace latchkey::inline v1
