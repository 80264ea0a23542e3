// Serves metrics if the build found prometheus-cpp.
#include "metrics.hpp"

#include <stdexcept>

#ifdef BANK_SERVES_METRICS
#include <prometheus/exposer.h>
#include <prometheus/registry.h>

#include <latchkey/adapters/prometheus.hpp>

namespace demo {

class Metrics::Server {
 public:
  explicit Server(const std::string& address) : exposer_(address) {
    exposer_.RegisterCollectable(registry_);
  }

  latchkey::PrometheusListener& listener() { return listener_; }
  [[nodiscard]] int port() const { return exposer_.GetListeningPorts().front(); }

 private:
  std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
  latchkey::PrometheusListener listener_{*registry_};
  prometheus::Exposer exposer_;
};

Metrics::Metrics(const std::string& address) {
  try {
    server_ = std::make_unique<Server>(address);
  } catch (const std::exception&) {
    throw std::runtime_error("cannot serve metrics at '" + address +
                             "': write a host of this machine and a free port, 127.0.0.1:9464");
  }
  url_ = "http://" + address.substr(0, address.rfind(':')) + ":" + std::to_string(server_->port()) +
         "/metrics";
}

latchkey::Listener& Metrics::listener() const { return server_->listener(); }

}  // namespace demo

#else

namespace demo {

class Metrics::Server {};

Metrics::Metrics(const std::string&) {
  throw std::runtime_error("built without metrics: install prometheus-cpp-dev and build again");
}

latchkey::Listener& Metrics::listener() const { throw std::logic_error("there is no server"); }

}  // namespace demo

#endif

namespace demo {

Metrics::~Metrics() = default;

}  // namespace demo
