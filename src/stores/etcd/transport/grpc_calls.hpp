// The calls of gRPC as requests of HTTP/2.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "stores/etcd/transport/grpc_call.hpp"
#include "stores/http2/http_transport.hpp"

namespace latchkey::inline v1::detail::etcd {

using http2::RequestId;

inline constexpr http2::HttpDialect grpc_dialect{{"etcd", "gRPC", "etcd://", "etcds://"},
                                                 std::size_t{256} << 20U,
                                                 {"grpc-status", "grpc-message"}};

/// Makes calls over the connection of a transport.
///
/// The head and the body of a call leave with one send(2).
class GrpcCalls {
 public:
  /// `http` speaks `grpc_dialect`, and outlives it.
  explicit GrpcCalls(http2::HttpTransport& http) noexcept : http_(http) {}

  /// Identifies the user in the calls that follow; empty: nobody.
  void use_token(std::string token) { token_ = std::move(token); }

  RequestId call(Method method, std::string_view message, OnEnd on_end);
  /// Sends (by `send`) and receives any number of messages.
  RequestId open_stream(Method method, OnMessage on_message, OnEnd on_end);
  /// One more message of a stream. Nothing if it has ended.
  void send(RequestId stream, std::string_view message);

 private:
  [[nodiscard]] http2::HttpRequest request_of(Method method) const;

  http2::HttpTransport& http_;
  std::string token_;
};

}  // namespace latchkey::inline v1::detail::etcd
