// gRPC over one HTTP/2 connection, by libcurl's multi interface.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <latchkey/clock.hpp>

#include "stores/driver/descriptor_set.hpp"
#include "stores/etcd/transport/grpc_call.hpp"
#include "stores/etcd/transport/grpc_transfer.hpp"

namespace latchkey::inline v1::detail::etcd {

struct TlsFiles {
  bool used = false;
  std::string authority, certificate, key;  ///< empty: the system's, none, none
};

/// Makes calls of one server, concurrently and without blocking. A call is attempted once: its body
/// cannot be sent twice. Callbacks run in `advance` and `disconnect`, and may start and cancel
/// calls.
class GrpcTransport {
 public:
  GrpcTransport(stores::DescriptorSet& descriptors, Clock& clock, TlsFiles tls,
                std::chrono::milliseconds connect_timeout);
  GrpcTransport(const GrpcTransport&) = delete;
  GrpcTransport& operator=(const GrpcTransport&) = delete;
  ~GrpcTransport();

  /// The server of the calls that follow; `host:port`. No call may be under way.
  void use_server(const std::string& server);
  /// Identifies the user in the calls that follow; empty: nobody.
  void use_token(const std::string& token);

  CallId call(Method method, std::string message, OnEnd on_end);
  /// Receives any number of messages.
  CallId open_stream(Method method, std::string message, OnMessage on_message, OnEnd on_end);
  /// Its callbacks will not be called.
  void cancel(CallId id) noexcept;

  void advance();
  /// What can be sent without waiting is sent.
  void flush();
  [[nodiscard]] Clock::time_point due() const noexcept;
  /// A call or a stream is under way.
  [[nodiscard]] bool is_busy() const noexcept { return !transfers_.empty(); }
  /// When the oldest call that is not a stream was started; never: there is none.
  [[nodiscard]] Clock::time_point oldest_call() noexcept;

  /// Whether the server has closed the connection while no call was under way: libcurl would notice
  /// it only with the next call.
  [[nodiscard]] bool closed_by_server() const noexcept;
  /// Closes the connection. Every call ends with no answer, for this reason.
  void disconnect(const std::string& why);
  /// In a forked child: closes the descriptors without sending a byte; no callback is called.
  void abandon() noexcept;

 private:
  struct Message {
    CallId id;
    std::string text;
  };

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) noexcept;
  static int on_timer(CURLM*, long milliseconds, void* self) noexcept;
  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address) noexcept;
  static int close_socket(void* self, curl_socket_t socket) noexcept;

  void make_multi();
  void clear_pools() noexcept;
  long http_version() noexcept;
  std::unique_ptr<GrpcTransfer> obtain(Method method);
  CallId start(Method method, std::string message, OnMessage on_message, OnEnd on_end);
  void act(curl_socket_t socket, int events);
  void collect();
  void deliver_messages();

  stores::DescriptorSet& descriptors_;
  Clock& clock_;
  const TlsFiles tls_;
  const std::chrono::milliseconds connect_timeout_;
  CURLM* multi_ = nullptr;
  std::string server_;
  curl_slist* headers_ = nullptr;
  std::unordered_map<CallId, std::unique_ptr<GrpcTransfer>> transfers_;
  std::array<std::vector<std::unique_ptr<GrpcTransfer>>, method_paths.size()> pools_;
  std::deque<CallId> unary_;      ///< in the order of their start; some have ended
  std::vector<CallId> arrivals_;  ///< streams that have received something
  std::deque<Message> messages_;
  std::vector<int> sockets_;
  Clock::time_point timer_ = Clock::never();
  CallId last_id_ = 0;
  bool connects_ = true;  ///< the next call makes the connection
};

}  // namespace latchkey::inline v1::detail::etcd
