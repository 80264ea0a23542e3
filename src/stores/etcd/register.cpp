// Registers the schemes of etcd.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/etcd.hpp>

#include "backend/registry.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/etcd/client.hpp"

namespace latchkey::inline v1 {

void register_etcd() {
  using namespace detail;
  register_store("etcd", &stores::connect_client<etcd::EtcdClient, etcd::EtcdUri>);
  register_store("etcds", &stores::connect_client<etcd::EtcdClient, etcd::EtcdUri>);
}

}  // namespace latchkey::inline v1
