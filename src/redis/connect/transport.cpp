// A byte stream to a server: TCP, a Unix socket, or TLS over TCP.
// SPDX-License-Identifier: BSL-1.0
#include "redis/connect/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

namespace latchkey::inline v1::detail::redis {
namespace {

void set_option(int socket, int level, int name, int value) noexcept {
  // A connection without the option works, too.
  ::setsockopt(socket, level, name, &value, sizeof value);
}

/// TCP connects a socket to itself if the system gives it the very port that it connects to, which
/// can happen with a free port of the same machine.
bool is_connected_to_itself(int socket) noexcept {
  sockaddr_storage here{}, there{};
  socklen_t here_size = sizeof here, there_size = sizeof there;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &here_size) != 0 ||    // NOLINT
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&there), &there_size) != 0) {  // NOLINT
    return false;
  }
  return here.ss_family != AF_UNIX && here_size == there_size &&
         std::memcmp(&here, &there, here_size) == 0;
}

}  // namespace

Io Transport::connect(const Address& address, const std::string& name) {
  session_.reset();
  name_ = name;
  socket_ =
      FileDescriptor(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_.valid()) return Io::broken(system_failure("socket", errno));
  if (address.family() != AF_UNIX) {
    set_option(fd(), IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd(), SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(patience_.count()));
  }
  if (::connect(fd(), address.get(), address.size) == 0) return continue_connect();
  if (errno == EINPROGRESS || errno == EINTR) return Io::blocked();
  return Io::broken(system_failure("connect", errno));
}

Io Transport::continue_connect() {
  if (session_ != nullptr) return session_->shake_hands();
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error == 0) {
    pollfd ready{.fd = fd(), .events = POLLOUT, .revents = 0};
    if (::poll(&ready, 1, 0) == 0) return Io::blocked();
  }
  if (error == 0 && is_connected_to_itself(fd())) error = ECONNREFUSED;
  if (error != 0) return Io::broken(system_failure("connect", error));
  return tls_ != nullptr ? start_tls() : Io::moved(0);
}

Io Transport::start_tls() {
  session_ = std::make_unique<TlsSession>(*tls_, fd(), name_);
  return session_->shake_hands();
}

short Transport::wanted() const noexcept {
  const bool writes = session_ == nullptr || session_->wants_to_write();
  return writes ? POLLOUT : POLLIN;
}

Io Transport::read(std::span<char> bytes) {
  if (session_ != nullptr) return session_->read(bytes);
  const auto got = ::recv(fd(), bytes.data(), bytes.size(), 0);
  if (got > 0) return Io::moved(static_cast<std::size_t>(got));
  if (got == 0) return Io::ended();
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Io::blocked();
  return Io::broken(system_failure("read", errno));
}

Io Transport::write(std::string_view bytes) {
  if (session_ != nullptr) return session_->write(bytes);
  const auto sent = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return Io::moved(static_cast<std::size_t>(sent));
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Io::blocked();
  return Io::broken(system_failure("write", errno));
}

void Transport::close() noexcept {
  if (session_ != nullptr) session_->send_close_notify();
  drop();
}

// close(2) alone neither wakes a thread that polls the socket nor ends the connection while that
// thread is in poll(2).
void Transport::drop() noexcept {
  if (is_open()) ::shutdown(fd(), SHUT_RDWR);
  abandon();
}

void Transport::abandon() noexcept {
  session_.reset();
  socket_.reset();
}

void Transport::lock_for_fork() noexcept {
  if (session_ != nullptr) session_->mutex().lock();
}

void Transport::unlock_after_fork() noexcept {
  if (session_ != nullptr) session_->mutex().unlock();
}

}  // namespace latchkey::inline v1::detail::redis
