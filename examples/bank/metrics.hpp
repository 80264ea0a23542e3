// Serves metrics of the bank's locks to Prometheus.
#pragma once

#include <memory>
#include <string>

#include <latchkey/listener.hpp>

namespace demo {

/// An HTTP server on a thread of its own; it ends with the object.
class Metrics {
 public:
  /// `address`: host and port, of which 0 is any free one. Throws std::runtime_error where nothing
  /// can be served there, or where this program was built without prometheus-cpp.
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
