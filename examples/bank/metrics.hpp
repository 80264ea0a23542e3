// Serves metrics of the bank's locks to Prometheus.
#pragma once

#include <memory>
#include <string>

#include <latchkey/listener.hpp>

namespace demo {

/// An HTTP server on its own thread; it stops when the object is destroyed.
class Metrics {
 public:
  /// `address`: host and port; port 0 selects a free one. Throws std::runtime_error if the address
  /// cannot be served, or if this program was built without prometheus-cpp.
  explicit Metrics(const std::string& address);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  [[nodiscard]] latchkey::Listener& listener() const;
  /// "http://127.0.0.1:9464/metrics".
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  class Server;
  std::unique_ptr<Server> server_;
  std::string url_;
};

}  // namespace demo
