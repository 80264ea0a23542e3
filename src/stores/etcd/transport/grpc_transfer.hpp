// The HTTP/2 stream of one gRPC call.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <curl/curl.h>

#include <string>
#include <string_view>
#include <vector>

#include <latchkey/clock.hpp>

#include "stores/etcd/transport/grpc_call.hpp"

namespace latchkey::inline v1::detail::etcd {

/// A handle of libcurl, used for one call after the other of one method.
class GrpcTransfer {
 public:
  /// Throws std::bad_alloc.
  explicit GrpcTransfer(Method method);
  GrpcTransfer(const GrpcTransfer&) = delete;
  GrpcTransfer& operator=(const GrpcTransfer&) = delete;
  ~GrpcTransfer();

  void start(CallId id, std::string_view message, OnMessage on_message, OnEnd on_end);
  /// A message that has arrived as a whole leaves the buffer; false: there is none.
  [[nodiscard]] bool take_message(std::string& message);
  /// `code` is libcurl's.
  [[nodiscard]] CallEnd end(CURLcode code);

  [[nodiscard]] CURL* handle() const noexcept { return handle_; }
  [[nodiscard]] Method method() const noexcept { return method_; }
  [[nodiscard]] CallId id() const noexcept { return id_; }
  [[nodiscard]] bool is_stream() const noexcept { return on_message != nullptr; }
  [[nodiscard]] bool sent() const noexcept { return sent_ > 0; }

  OnMessage on_message{};
  OnEnd on_end{};
  Clock::time_point started{};
  std::vector<CallId>* arrivals = nullptr;  ///< receives the id of a stream when something arrives

 private:
  static std::size_t read_body(char* to, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t write_reply(char* from, std::size_t size, std::size_t count,
                                 void* self) noexcept;
  static std::size_t read_header(char* from, std::size_t size, std::size_t count,
                                 void* self) noexcept;
  [[nodiscard]] CallEnd broken(CURLcode code) const;

  const Method method_;
  CURL* const handle_;
  CallId id_ = 0;
  std::string body_;
  std::size_t sent_ = 0;
  std::string received_;
  int status_ = -1;  ///< of gRPC; -1: not received
  std::string status_text_;
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace latchkey::inline v1::detail::etcd
