// A server of ZooKeeper for one connection, whose client runs in the same thread. What one side
// sends has arrived before the other one looks.
#pragma once

#include <linux/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/file_descriptor.hpp"
#include "fuzz/require.hpp"
#include "support/servers/loopback.hpp"

namespace latchkey::fuzz {

using detail::FileDescriptor;

inline tcp_info connection_of(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  require(::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0);
  return info;
}

inline void await_event(int descriptor, short events) {
  pollfd wanted{.fd = descriptor, .events = events, .revents = 0};
  require(::poll(&wanted, 1, 30'000) == 1);
}

/// Waits until everything has arrived that one end of a connection has sent to the other one.
inline void await_delivery(int from, int to) {
  constexpr auto established = 1;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (;;) {
    const tcp_info sender = connection_of(from), receiver = connection_of(to);
    const auto sent = sender.tcpi_bytes_sent - sender.tcpi_bytes_retrans;
    if (sender.tcpi_state != established || receiver.tcpi_state != established ||
        (sender.tcpi_notsent_bytes == 0 && receiver.tcpi_bytes_received >= sent))
      return;
    require(std::chrono::steady_clock::now() < deadline);
    std::this_thread::yield();
  }
}

inline std::string number(std::int64_t value, int size = 4) {
  std::string bytes;
  for (int at = size - 1; at >= 0; --at) bytes += static_cast<char>(value >> (8 * at));
  return bytes;
}
inline std::string text(std::string_view content) {
  return number(static_cast<std::int64_t>(content.size())) + std::string(content);
}
inline std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(at, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

/// One connection. It knows the requests that it has not replied to.
class FakeZooKeeper {
 public:
  struct Request {
    std::string xid;
    std::uint32_t kind;
  };

  FakeZooKeeper() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    port_ = tests::listen_on_loopback(listening_.get());
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::deque<Request>& requests() noexcept { return requests_; }

  void accept() {
    await_event(listening_.get(), POLLIN);
    connection_ = FileDescriptor(::accept4(listening_.get(), nullptr, nullptr, flags));
    const int yes = 1;
    require(::setsockopt(connection_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
  }
  /// Reads what the client has sent with this descriptor.
  void work(int client) {
    client_ = client;
    if (!connection_.valid()) return;
    if (client_ >= 0) await_delivery(client_, connection_.get());
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = ::recv(connection_.get(), part.data(), part.size(), 0)) > 0;) {
      received_.append(part.data(), static_cast<std::size_t>(size));
    }
    while (received_.size() >= 4 && received_.size() >= 4 + number_at(received_, 0)) {
      const std::string message = received_.substr(4, number_at(received_, 0));
      received_.erase(0, 4 + message.size());
      if (!std::exchange(greeted_, true)) {
        send(number(0) + message.substr(12, 4) + number(7, 8) + text(std::string(16, 'p')) + '\0');
      } else {
        requests_.push_back({message.substr(0, 4), number_at(message, 4)});
      }
    }
  }
  void send(const std::string& message) { send_raw(text(message)); }
  void send_raw(const std::string& bytes) {
    if (!connection_.valid()) return;
    if (::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0 && client_ >= 0)
      await_delivery(connection_.get(), client_);
  }
  /// The client's port is free at once.
  void hang_up() {
    if (!connection_.valid()) return;
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(connection_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    connection_.reset();
    if (client_ >= 0) await_event(client_, POLLRDHUP);
  }

 private:
  static constexpr int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
  FileDescriptor listening_, connection_;
  int client_ = -1;
  std::uint16_t port_ = 0;
  bool greeted_ = false;
  std::string received_;
  std::deque<Request> requests_;
};

}  // namespace latchkey::fuzz
