// Registers the schemes of etcd.
// SPDX-License-Identifier: BSL-1.0
#include <memory>

#include <latchkey/etcd.hpp>

#include "backend/registry.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/etcd/client.hpp"

namespace latchkey::inline v1 {
namespace {

std::unique_ptr<Backend> connect(std::string_view uri, const Options& options) {
  using namespace detail;
  return stores::drive_client(
      std::make_unique<etcd::EtcdClient>(etcd::EtcdUri::parse(uri), options), options);
}

}  // namespace

void register_etcd() {
  detail::register_store("etcd", &connect);
  detail::register_store("etcds", &connect);
}

}  // namespace latchkey::inline v1
