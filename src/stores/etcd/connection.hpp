// The connection to an etcd cluster: login, checks, calls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "stores/etcd/transport/grpc_calls.hpp"
#include "stores/etcd/uri.hpp"
#include "stores/http2/http_connection.hpp"

namespace latchkey::inline v1::detail::etcd {

/// A server can be used once the user is authenticated, if the URI names one, the version is new
/// enough or secret, and a leader answers.
class EtcdConnection final : public http2::HttpConnection {
 public:
  /// As HttpConnection.
  EtcdConnection(const EtcdUri& uri, stores::DescriptorSet& descriptors, Clock& clock,
                 std::chrono::milliseconds timeout, std::function<void(bool up)> on_change);

  /// Only while the link is up. `on_end` gets an end that breaks the link, too, and may start no
  /// call then.
  RequestId call(Method method, std::string_view message, OnEnd on_end);
  /// A stream of watches. Its end says nothing about the connection: proxies end streams on which
  /// nothing happens.
  RequestId open_watches(OnMessage on_message, OnEnd on_end) {
    return calls_.open_stream(Method::watch, std::move(on_message), std::move(on_end));
  }
  void send(RequestId stream, std::string_view message) { calls_.send(stream, message); }

 private:
  void check() override;
  void log_in();
  void check_version();
  void check_reads();
  /// Whether the call has succeeded. If not, the link has failed.
  bool answered(const CallEnd& end);
  /// Whether the server requires a user and the URI names none. If so, the link has failed.
  bool wants_user(const CallEnd& end);

  const std::string user_, password_, prefix_;
  GrpcCalls calls_;
};

}  // namespace latchkey::inline v1::detail::etcd
