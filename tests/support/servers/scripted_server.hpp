// A server that is made of one function.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "support/servers/loopback.hpp"

namespace latchkey::tests {

/// Listens on a free port of 127.0.0.1 and serves one connection after the other: `answer` receives
/// all that a client has sent so far, with each arrival, and appends what is to be sent. The
/// destructor ends it.
class ScriptedServer {
 public:
  using Answer = std::function<void(std::string& received, std::string& to_send)>;

  explicit ScriptedServer(Answer answer)
      : answer_(std::move(answer)), listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    port_ = listen_on_loopback(listening_);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer() {
    thread_.request_stop();
    thread_.join();
    ::close(listening_);
  }

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  static bool is_readable(int socket) {
    pollfd wanted{.fd = socket, .events = POLLIN, .revents = 0};
    return ::poll(&wanted, 1, 20) > 0;
  }
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (!is_readable(listening_)) continue;
      const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      converse(stop, socket);
      ::close(socket);
    }
  }
  void converse(const std::stop_token& stop, int socket) {
    std::string received, to_send;
    char part[4096];
    while (!stop.stop_requested()) {
      if (!is_readable(socket)) continue;
      const ssize_t size = ::recv(socket, part, sizeof part, 0);
      if (size <= 0) return;
      received.append(part, static_cast<std::size_t>(size));
      to_send.clear();
      answer_(received, to_send);
      ::send(socket, to_send.data(), to_send.size(), MSG_NOSIGNAL);
    }
  }

  const Answer answer_;
  const int listening_;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

}  // namespace latchkey::tests
