// A free port of 127.0.0.1.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <stdexcept>

namespace latchkey::tests {

/// The socket listens on a free port, which is returned. Throws std::runtime_error.
inline std::uint16_t listen_on_loopback(int socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket, plain, size) != 0 || ::listen(socket, 8) != 0 ||
      ::getsockname(socket, plain, &size) != 0) {
    throw std::runtime_error("cannot listen on 127.0.0.1");
  }
  return ntohs(address.sin_port);
}

}  // namespace latchkey::tests
