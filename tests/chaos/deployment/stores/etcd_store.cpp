// The campaign on etcd.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/stores/store_deployment.hpp"
#include "stores/etcd/erring_proxy.hpp"
#include "stores/etcd/etcd_server.hpp"

namespace latchkey::chaos {
namespace {

std::string keys_left(const tests::EtcdServer& server, bool /*abandoned*/) {
  std::string text;
  for (const std::string& key : server.keys("")) text += ' ' + key;
  return text;
}

/// etcd, and the proxy to which the links of workers lead.
class EtcdBehindProxy final : public StoreDeployment<tests::EtcdServer> {
 public:
  using StoreDeployment::StoreDeployment;

  [[nodiscard]] std::uint16_t link_port() const override { return proxy_.port(); }
  [[nodiscard]] bool has(FaultKind kind) const noexcept override {
    return kind == FaultKind::proxy_errors || StoreDeployment::has(kind);
  }
  void begin(const PlannedFault& fault) override {
    if (fault.kind != FaultKind::proxy_errors) return StoreDeployment::begin(fault);
    proxy_.err(3 + static_cast<unsigned>(fault.strength) % 6);
  }
  void end(const PlannedFault& fault) override {
    if (fault.kind != FaultKind::proxy_errors) return StoreDeployment::end(fault);
    proxy_.err(0);
  }

 private:
  tests::ErringProxy proxy_{server().port()};
};

}  // namespace

// Sessions end during the longer stops of a client and of the server.
std::unique_ptr<Deployment> make_etcd() {
  return std::make_unique<EtcdBehindProxy>(
      EtcdBehindProxy::Store{.before_port = "etcd://127.0.0.1:",
                             .after_port = "/?session=2s",
                             .limits = {.reply = store_reply},
                             .tokens_are_times = false,
                             .keys_left = keys_left});
}

}  // namespace latchkey::chaos
