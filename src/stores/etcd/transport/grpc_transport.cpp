// gRPC over one HTTP/2 connection, by libcurl's multi interface.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/transport/grpc_transport.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace latchkey::inline v1::detail::etcd {
namespace {

void start_libcurl() {
  static const CURLcode code = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) throw std::bad_alloc();
}

GrpcTransfer& transfer_of(CURL* handle) {
  char* pointer = nullptr;
  ::curl_easy_getinfo(handle, CURLINFO_PRIVATE, &pointer);
  return *reinterpret_cast<GrpcTransfer*>(pointer);
}

}  // namespace

GrpcTransport::GrpcTransport(stores::DescriptorSet& descriptors, Clock& clock, TlsFiles tls,
                             std::chrono::milliseconds connect_timeout)
    : descriptors_(descriptors),
      clock_(clock),
      tls_(std::move(tls)),
      connect_timeout_(connect_timeout) {
  start_libcurl();
  make_multi();
  use_token({});
}

GrpcTransport::~GrpcTransport() {
  for (auto& [id, transfer] : transfers_) ::curl_multi_remove_handle(multi_, transfer->handle());
  transfers_.clear();
  clear_pools();
  ::curl_multi_cleanup(multi_);
  ::curl_slist_free_all(headers_);
}

void GrpcTransport::make_multi() {
  connects_ = true;
  multi_ = ::curl_multi_init();
  if (multi_ == nullptr) throw std::bad_alloc();
  constexpr long all_streams = 1 << 30;
  ::curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &GrpcTransport::on_socket);
  ::curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  ::curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &GrpcTransport::on_timer);
  ::curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  ::curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
  ::curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS, all_streams);
}

void GrpcTransport::clear_pools() noexcept {
  for (auto& pool : pools_) pool.clear();
}

void GrpcTransport::use_server(const std::string& server) {
  if (server == server_) return;
  server_ = server;
  clear_pools();
}

void GrpcTransport::use_token(const std::string& token) {
  curl_slist* made = nullptr;
  const auto add = [&](const std::string& line) {
    curl_slist* const longer = ::curl_slist_append(made, line.c_str());
    if (longer == nullptr) {
      ::curl_slist_free_all(made);
      throw std::bad_alloc();
    }
    made = longer;
  };
  for (const char* const line : {"content-type: application/grpc", "te: trailers", "expect:"}) {
    add(line);
  }
  if (!token.empty()) add("token: " + token);
  clear_pools();  // their handles point to the old list
  ::curl_slist_free_all(std::exchange(headers_, made));
}

std::unique_ptr<GrpcTransfer> GrpcTransport::obtain(Method method) {
  auto& pool = pools_[static_cast<std::size_t>(method)];
  if (!pool.empty()) {
    auto used = std::move(pool.back());
    pool.pop_back();
    return used;
  }
  auto made = std::make_unique<GrpcTransfer>(method);
  CURL* const handle = made->handle();
  const std::string url = (tls_.used ? "https://" : "http://") + server_ +
                          std::string(method_paths[static_cast<std::size_t>(method)]);
  ::curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_);
  ::curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(connect_timeout_.count()));
  ::curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &GrpcTransport::open_socket);
  ::curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, this);
  ::curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, &GrpcTransport::close_socket);
  ::curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, this);
  if (!tls_.authority.empty()) {
    ::curl_easy_setopt(handle, CURLOPT_CAINFO, tls_.authority.c_str());
  }
  if (!tls_.certificate.empty()) {
    ::curl_easy_setopt(handle, CURLOPT_SSLCERT, tls_.certificate.c_str());
  }
  if (!tls_.key.empty()) ::curl_easy_setopt(handle, CURLOPT_SSLKEY, tls_.key.c_str());
  return made;
}

// libcurl 7.88 cannot make a second request with prior knowledge on one connection. Any other
// request uses the HTTP/2 that it finds there; if it finds no connection, it asks for HTTP/2 by
// HTTP/1.1, which etcd rejects without a look at the request.
long GrpcTransport::http_version() noexcept {
  if (tls_.used) return CURL_HTTP_VERSION_2TLS;
  const bool first = std::exchange(connects_, false);
  return first ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_2_0;
}

CallId GrpcTransport::call(Method method, std::string message, OnEnd on_end) {
  const CallId id = start(method, std::move(message), nullptr, std::move(on_end));
  unary_.push_back(id);
  return id;
}

CallId GrpcTransport::open_stream(Method method, std::string message, OnMessage on_message,
                                  OnEnd on_end) {
  return start(method, std::move(message), std::move(on_message), std::move(on_end));
}

CallId GrpcTransport::start(Method method, std::string message, OnMessage on_message,
                            OnEnd on_end) {
  const CallId id = ++last_id_;
  auto transfer = obtain(method);
  transfer->start(id, message, std::move(on_message), std::move(on_end));
  ::curl_easy_setopt(transfer->handle(), CURLOPT_HTTP_VERSION, http_version());
  transfer->started = clock_.now();
  transfer->arrivals = transfer->is_stream() ? &arrivals_ : nullptr;
  CURL* const handle = transfer->handle();
  transfers_.emplace(id, std::move(transfer));
  if (::curl_multi_add_handle(multi_, handle) != CURLM_OK) {
    transfers_.erase(id);
    throw std::bad_alloc();
  }
  return id;
}

void GrpcTransport::cancel(CallId id) noexcept {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  ::curl_multi_remove_handle(multi_, found->second->handle());
  transfers_.erase(found);
}

void GrpcTransport::act(curl_socket_t socket, int events) {
  int running = 0;
  ::curl_multi_socket_action(multi_, socket, events, &running);
}

void GrpcTransport::advance() {
  for (const stores::DescriptorSet::Ready& ready : descriptors_.ready()) {
    if (transfers_.empty()) {  // libcurl does not read; the next call does
      descriptors_.forget(ready.descriptor);
      continue;
    }
    int events = 0;
    if ((ready.events & (POLLIN | POLLHUP)) != 0) events |= CURL_CSELECT_IN;
    if ((ready.events & POLLOUT) != 0) events |= CURL_CSELECT_OUT;
    if ((ready.events & POLLERR) != 0) events |= CURL_CSELECT_ERR;
    act(ready.descriptor, events);
  }
  collect();
  flush();
}

// Calls that are started by callbacks are sent at once.
void GrpcTransport::flush() {
  constexpr int rounds = 16;
  for (int round = 0; round < rounds && timer_ <= clock_.now(); ++round) {
    timer_ = Clock::never();
    act(CURL_SOCKET_TIMEOUT, 0);
    collect();
  }
}

void GrpcTransport::collect() {
  for (const CallId id : std::exchange(arrivals_, {})) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) continue;
    for (std::string text; found->second->take_message(text);) {
      messages_.push_back({id, std::move(text)});
    }
  }
  deliver_messages();
  int left = 0;
  while (const CURLMsg* const info = ::curl_multi_info_read(multi_, &left)) {
    if (info->msg != CURLMSG_DONE) continue;
    const CURLcode code = info->data.result;
    const auto found = transfers_.find(transfer_of(info->easy_handle).id());
    if (found == transfers_.end()) continue;
    std::unique_ptr<GrpcTransfer> transfer = std::move(found->second);
    transfers_.erase(found);
    ::curl_multi_remove_handle(multi_, transfer->handle());
    CallEnd end = transfer->end(code);
    const OnEnd on_end = std::move(transfer->on_end);
    if (code == CURLE_OK) {
      pools_[static_cast<std::size_t>(transfer->method())].push_back(std::move(transfer));
    }
    on_end(std::move(end));
  }
}

void GrpcTransport::deliver_messages() {
  while (!messages_.empty()) {
    const Message message = std::move(messages_.front());
    messages_.pop_front();
    const auto found = transfers_.find(message.id);
    if (found == transfers_.end()) continue;
    const OnMessage on_message = found->second->on_message;  // which may cancel its own call
    on_message(message.text);
  }
}

Clock::time_point GrpcTransport::due() const noexcept { return timer_; }

Clock::time_point GrpcTransport::oldest_call() noexcept {
  while (!unary_.empty()) {
    const auto found = transfers_.find(unary_.front());
    if (found != transfers_.end()) return found->second->started;
    unary_.pop_front();
  }
  return Clock::never();
}

bool GrpcTransport::closed_by_server() const noexcept {
  if (!transfers_.empty() || sockets_.empty()) return false;
  char byte = 0;
  const ssize_t size = ::recv(sockets_.back(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
}

void GrpcTransport::disconnect(const std::string& why) {
  auto broken = std::exchange(transfers_, {});
  for (auto& [id, transfer] : broken) ::curl_multi_remove_handle(multi_, transfer->handle());
  clear_pools();
  unary_.clear();
  messages_.clear();
  arrivals_.clear();
  ::curl_multi_cleanup(multi_);
  timer_ = Clock::never();
  make_multi();
  for (auto& [id, transfer] : broken) {
    CallEnd end;
    end.text = why;
    end.sent = transfer->sent();
    transfer->on_end(std::move(end));
  }
}

// libcurl would say goodbye on the parent's connection, so its objects are leaked.
void GrpcTransport::abandon() noexcept {
  for (const int socket : sockets_) ::close(socket);
  sockets_.clear();
  for (auto& [id, transfer] : transfers_) static_cast<void>(transfer.release());
  transfers_.clear();
  for (auto& pool : pools_) {
    for (auto& transfer : pool) static_cast<void>(transfer.release());
    pool.clear();
  }
  unary_.clear();
  messages_.clear();
  arrivals_.clear();
  timer_ = Clock::never();
  make_multi();
}

}  // namespace latchkey::inline v1::detail::etcd
