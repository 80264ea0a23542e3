// What libcurl asks of the transport: sockets, and what to wait for.
// SPDX-License-Identifier: BSL-1.0
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <vector>

#include "stores/etcd/transport/grpc_transport.hpp"

namespace latchkey::inline v1::detail::etcd {

int GrpcTransport::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) noexcept {
  auto& me = *static_cast<GrpcTransport*>(self);
  // An idle connection stays in the set: so its end is noticed, and the next call need not add it.
  if (what == CURL_POLL_REMOVE) {
    if (std::ranges::find(me.sockets_, socket) == me.sockets_.end()) {
      me.descriptors_.forget(socket);
      return 0;
    }
    what = CURL_POLL_IN;
  }
  short events = 0;
  if (what != CURL_POLL_OUT) events |= POLLIN;
  if (what != CURL_POLL_IN) events |= POLLOUT;
  try {
    me.descriptors_.watch(socket, events);
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

int GrpcTransport::on_timer(CURLM*, long milliseconds, void* self) noexcept {
  auto& me = *static_cast<GrpcTransport*>(self);
  me.timer_ = milliseconds < 0 ? Clock::never()
                               : later(me.clock_.now(), std::chrono::milliseconds(milliseconds));
  return 0;
}

curl_socket_t GrpcTransport::open_socket(void* self, curlsocktype,
                                         curl_sockaddr* address) noexcept {
  auto& sockets = static_cast<GrpcTransport*>(self)->sockets_;
  try {
    sockets.reserve(sockets.size() + 1);
  } catch (const std::bad_alloc&) {
    return CURL_SOCKET_BAD;
  }
  const int made = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (made >= 0) sockets.push_back(made);
  return made;
}

int GrpcTransport::close_socket(void* self, curl_socket_t socket) noexcept {
  auto& me = *static_cast<GrpcTransport*>(self);
  std::erase(me.sockets_, socket);
  me.descriptors_.forget(socket);
  return ::close(socket);
}

}  // namespace latchkey::inline v1::detail::etcd
