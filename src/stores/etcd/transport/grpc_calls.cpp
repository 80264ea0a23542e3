// The calls of gRPC as requests of HTTP/2.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/transport/grpc_calls.hpp"

#include "core/text/number.hpp"
#include "stores/etcd/wire/messages.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

constexpr const char* cut_off = "malformed reply: a field of the message is cut off";

/// False: a message is announced that is larger than any of etcd's.
bool check_size(http2::HttpTransport& http, const std::string& received) {
  if (size_of_message(received) <= grpc_dialect.most_bytes) return true;
  http.reject(http2::reply_too_large(grpc_dialect.most_bytes));
  return false;
}

std::string text_of(int status, const std::string& message) {
  constexpr std::string_view origin = "etcdserver: ";
  std::string text = percent_decoded(message);
  if (text.starts_with(origin)) text.erase(0, origin.size());
  if (status != 0 && text.empty()) return "gRPC status " + std::to_string(status);
  return text;
}

// A proxy answers with an error of HTTP after etcd has run a call, too.
CallEnd end_of(const http2::HttpEnd& http) {
  CallEnd end;
  const auto& [status_header, message] = http.headers;
  int status = 0;
  if (read_number(std::string_view(status_header), status)) {
    end.status = static_cast<GrpcStatus>(status);
    end.text = text_of(status, message);
    return end;
  }
  if (http.refused) end.status = GrpcStatus::unavailable;
  end.sent = http.sent;
  end.nothing_listens = http.nothing_listens;
  end.text = http.status == 0
                 ? http.text
                 : "the server, or a proxy in front of it, does not answer as etcd does (HTTP "
                   "status " +
                       std::to_string(http.status) + ")";
  return end;
}

CallEnd end_of_call(Method method, http2::HttpEnd&& http) {
  CallEnd end = end_of(http);
  if (!end.ok()) return end;
  const bool has_message = take_message(http.body, end.reply);
  if (has_message && is_whole_reply(method, end.reply)) return end;
  end.status = GrpcStatus::no_answer;
  end.text = has_message ? cut_off : "malformed reply: a call that succeeded has no message";
  return end;
}

}  // namespace

http2::HttpRequest GrpcCalls::request_of(Method method) const {
  http2::HttpRequest request{.method = "POST",
                             .path = method_paths.at(static_cast<std::size_t>(method)),
                             .headers = {{"content-type", "application/grpc"}, {"te", "trailers"}}};
  if (!token_.empty()) request.headers.emplace_back("token", token_);
  return request;
}

RequestId GrpcCalls::call(Method method, std::string_view message, OnEnd on_end) {
  http2::HttpRequest request = request_of(method);
  request.body = with_prefix(message);
  return http_.request(
      std::move(request),
      [method, on_end = std::move(on_end)](http2::HttpEnd&& end) {
        on_end(end_of_call(method, std::move(end)));
      },
      [this](const std::string& received) { check_size(http_, received); });
}

RequestId GrpcCalls::open_stream(Method method, OnMessage on_message, OnEnd on_end) {
  http2::HttpRequest request = request_of(method);
  request.body_ends = http2::Http2Session::BodyEnds::never;
  return http_.open_stream(
      std::move(request),
      [this, method, on_message = std::move(on_message)](std::string& received) {
        std::string message;
        if (!check_size(http_, received) || !take_message(received, message)) return;
        if (!is_whole_reply(method, message)) return http_.reject(cut_off);
        on_message(message);
      },
      [on_end = std::move(on_end)](http2::HttpEnd&& end) { on_end(end_of(end)); });
}

void GrpcCalls::send(RequestId stream, std::string_view message) {
  http_.append(stream, with_prefix(message));
}

}  // namespace latchkey::inline v1::detail::etcd
