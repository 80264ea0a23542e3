// A server that offers TLS as it is told to, and nothing else.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/servers/certificates.hpp"

namespace latchkey::tests {

/// `openssl s_server` on a free port of 127.0.0.1, with the server's certificate of `files`.
class TlsServer {
 public:
  /// `options`: such as "-tls1_1".
  TlsServer(const Certificates& files, const std::vector<std::string>& options)
      : port_(free_port()), process_(words(files, port_, options), files.server + ".log") {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!accepts()) {
      if (process_.ended() || std::chrono::steady_clock::now() >= end) {
        throw std::runtime_error("openssl s_server does not serve");
      }
      ::poll(nullptr, 0, 10);  // it does not report when it begins to listen
    }
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  static std::uint16_t free_port() {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    const bool bound = ::bind(probe, plain, size) == 0 && ::getsockname(probe, plain, &size) == 0;
    ::close(probe);
    if (!bound) throw std::runtime_error("no free port on 127.0.0.1");
    return ntohs(address.sin_port);
  }
  static std::vector<std::string> words(const Certificates& files, std::uint16_t port,
                                        const std::vector<std::string>& options) {
    std::vector<std::string> all{
        "openssl",       "s_server", "-accept",    "127.0.0.1:" + std::to_string(port),
        "-quiet",        "-cert",    files.server, "-key",
        files.server_key};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }
  [[nodiscard]] bool accepts() const {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port_);
    const auto* const plain = reinterpret_cast<const sockaddr*>(&address);
    const bool connected = ::connect(probe, plain, sizeof address) == 0;
    ::close(probe);
    return connected;
  }

  const std::uint16_t port_;
  Process process_;
};

}  // namespace latchkey::tests
