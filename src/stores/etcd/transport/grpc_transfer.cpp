// The HTTP/2 stream of one gRPC call.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/transport/grpc_transfer.hpp"

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>

namespace latchkey::inline v1::detail::etcd {
namespace {

/// What stands before each message: whether it is compressed, and its length.
constexpr std::size_t prefix_size = 5;

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned value = 0;
    const bool escaped =
        text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(&text[at + 1], &text[at + 1] + 2, value, 16).ec == std::errc();
    decoded += escaped ? static_cast<char>(value) : text[at];
    if (escaped) at += 2;
  }
  return decoded;
}

}  // namespace

GrpcTransfer::GrpcTransfer(Method method) : method_(method), handle_(::curl_easy_init()) {
  if (handle_ == nullptr) throw std::bad_alloc();
  ::curl_easy_setopt(handle_, CURLOPT_PRIVATE, this);
  ::curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(handle_, CURLOPT_PIPEWAIT, 1L);
  ::curl_easy_setopt(handle_, CURLOPT_PROXY, "");
  ::curl_easy_setopt(handle_, CURLOPT_TCP_NODELAY, 1L);
  ::curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, error_);
  ::curl_easy_setopt(handle_, CURLOPT_POST, 1L);
  // A read function without a seek function: libcurl cannot send the body a second time.
  ::curl_easy_setopt(handle_, CURLOPT_READFUNCTION, &GrpcTransfer::read_body);
  ::curl_easy_setopt(handle_, CURLOPT_READDATA, this);
  ::curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, &GrpcTransfer::write_reply);
  ::curl_easy_setopt(handle_, CURLOPT_WRITEDATA, this);
  ::curl_easy_setopt(handle_, CURLOPT_HEADERFUNCTION, &GrpcTransfer::read_header);
  ::curl_easy_setopt(handle_, CURLOPT_HEADERDATA, this);
}

GrpcTransfer::~GrpcTransfer() { ::curl_easy_cleanup(handle_); }

void GrpcTransfer::start(CallId id, std::string_view message, OnMessage message_handler,
                         OnEnd end_handler) {
  id_ = id;
  on_message = std::move(message_handler);
  on_end = std::move(end_handler);
  body_.assign(prefix_size, '\0');
  for (std::size_t byte = 1; byte < prefix_size; ++byte) {
    body_[byte] = static_cast<char>(message.size() >> (8 * (prefix_size - 1 - byte)));
  }
  body_ += message;
  sent_ = 0;
  received_.clear();
  status_ = -1;
  status_text_.clear();
  error_[0] = '\0';
  ::curl_easy_setopt(handle_, CURLOPT_POSTFIELDSIZE, static_cast<long>(body_.size()));
}

std::size_t GrpcTransfer::read_body(char* to, std::size_t size, std::size_t count,
                                    void* self) noexcept {
  auto& me = *static_cast<GrpcTransfer*>(self);
  const std::size_t length = std::min(size * count, me.body_.size() - me.sent_);
  std::copy_n(me.body_.data() + me.sent_, length, to);
  me.sent_ += length;
  return length;
}

// An exception must not pass through libcurl. 0: the transfer fails.
std::size_t GrpcTransfer::write_reply(char* from, std::size_t size, std::size_t count,
                                      void* self) noexcept {
  try {
    auto& me = *static_cast<GrpcTransfer*>(self);
    me.received_.append(from, size * count);
    if (me.arrivals != nullptr) me.arrivals->push_back(me.id_);
    return size * count;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

// The trailers arrive here, too.
std::size_t GrpcTransfer::read_header(char* from, std::size_t size, std::size_t count,
                                      void* self) noexcept {
  auto& me = *static_cast<GrpcTransfer*>(self);
  const std::string_view line(from, size * count);
  const std::string_view text = line.substr(0, line.find_last_not_of("\r\n") + 1);
  constexpr std::string_view status = "grpc-status: ", message = "grpc-message: ";
  try {
    if (text.starts_with(status)) {
      std::from_chars(text.data() + status.size(), text.data() + text.size(), me.status_);
    } else if (text.starts_with(message)) {
      me.status_text_ = percent_decoded(text.substr(message.size()));
    }
    return line.size();
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

bool GrpcTransfer::take_message(std::string& message) {
  if (received_.size() < prefix_size) return false;
  std::size_t length = 0;
  for (std::size_t byte = 1; byte < prefix_size; ++byte) {
    length = length << 8U | static_cast<unsigned char>(received_[byte]);
  }
  if (received_.size() < prefix_size + length) return false;
  message = received_.substr(prefix_size, length);
  received_.erase(0, prefix_size + length);
  return true;
}

CallEnd GrpcTransfer::end(CURLcode code) {
  if (code != CURLE_OK) return broken(code);
  CallEnd end;
  if (status_ < 0) {
    long http = 0;
    ::curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &http);
    long version = CURL_HTTP_VERSION_NONE;
    ::curl_easy_getinfo(handle_, CURLINFO_HTTP_VERSION, &version);
    end.sent = version >= CURL_HTTP_VERSION_2_0;  // no gRPC server has seen it
    end.text = "the server does not answer as etcd does (HTTP status " + std::to_string(http) + ")";
    return end;
  }
  end.status = static_cast<GrpcStatus>(status_);
  constexpr std::string_view origin = "etcdserver: ";
  end.text = status_text_.starts_with(origin) ? status_text_.substr(origin.size()) : status_text_;
  static_cast<void>(take_message(end.reply));
  return end;
}

CallEnd GrpcTransfer::broken(CURLcode code) const {
  CallEnd end;
  end.sent = sent();
  long error_number = 0;
  ::curl_easy_getinfo(handle_, CURLINFO_OS_ERRNO, &error_number);
  end.nothing_listens = code == CURLE_COULDNT_CONNECT && error_number == ECONNREFUSED;
  const char* const why = error_[0] != '\0' ? error_ : ::curl_easy_strerror(code);
  if (end.nothing_listens) {
    end.text = "connection refused: nothing listens there";
  } else if (code == CURLE_HTTP2 || code == CURLE_UNSUPPORTED_PROTOCOL ||
             code == CURLE_WEIRD_SERVER_REPLY) {
    end.text = "the server speaks no gRPC, or only with TLS (etcds://): " + std::string(why);
  } else {
    end.text = why;
  }
  return end;
}

}  // namespace latchkey::inline v1::detail::etcd
