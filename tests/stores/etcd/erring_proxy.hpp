// A proxy in front of etcd that answers some requests with an error of HTTP.
#pragma once

#include <atomic>
#include <cstdint>

#include "http2_proxy.hpp"

namespace latchkey::tests {

/// Forwards the streams of its clients to the port of etcd and back. While it errs, some streams
/// end with an error of HTTP:
///
/// | status | etcd                                                      |
/// |--------|-----------------------------------------------------------|
/// | 502    | has carried out the request, and its answer is discarded  |
/// | 503    | has not got the request: the stream is cancelled before   |
class ErringProxy {
 public:
  explicit ErringProxy(std::uint16_t server_port);

  [[nodiscard]] std::uint16_t port() const noexcept { return proxy_.port(); }
  /// From now on one of about so many streams that begin ends with an error; 0: none does.
  /// Thread-safe.
  void err(unsigned one_in) noexcept { one_in_ = one_in; }
  /// How many errors of both kinds were sent.
  [[nodiscard]] unsigned errors() const noexcept { return errors_; }

 private:
  class Connection;

  std::atomic<unsigned> one_in_{0}, streams_{0}, errors_{0};
  Http2Proxy proxy_;
};

}  // namespace latchkey::tests
