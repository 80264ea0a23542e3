// The clients of a server that a test plays.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/file_descriptor.hpp"

namespace latchkey::tests {

/// A listening socket, and the clients that it has accepted. `Client` is default constructible and
/// has the members
///
///     FileDescriptor socket;  std::string received;
///
/// One thread at a time.
template <class Client>
class ClientList {
 public:
  using FileDescriptor = latchkey::detail::FileDescriptor;

  explicit ClientList(FileDescriptor listening) : listening_(std::move(listening)) {}

  [[nodiscard]] int listening() const noexcept { return listening_.get(); }

  /// Handles what has arrived, or arrives within `milliseconds`. False: nothing has.
  /// `serve(Client&)` takes what it understands of `received`; false closes the connection.
  /// `greet(Client&)` is told of a new one.
  template <class Serve, class Greet>
  bool work(int milliseconds, Serve&& serve, Greet&& greet) {
    std::vector<pollfd> wanted{{.fd = listening_.get(), .events = POLLIN, .revents = 0}};
    for (const Client& each : clients_) {
      wanted.push_back({.fd = each.socket.get(), .events = POLLIN, .revents = 0});
    }
    if (::poll(wanted.data(), wanted.size(), milliseconds) <= 0) return false;
    std::size_t at = 1;
    for (auto client = clients_.begin(); client != clients_.end();) {
      const auto one = client++;
      if (wanted[at++].revents != 0 && !(receive(*one) && serve(*one))) clients_.erase(one);
    }
    if (wanted.front().revents != 0) accept(greet);
    return true;
  }
  template <class Serve>
  bool work(int milliseconds, Serve&& serve) {
    return work(milliseconds, serve, [](Client&) {});
  }
  void hang_up() noexcept { clients_.clear(); }

  [[nodiscard]] auto begin() const noexcept { return clients_.begin(); }
  [[nodiscard]] auto end() const noexcept { return clients_.end(); }

  /// Waits for a client that does not read for a second at most, and drops the rest then: the
  /// client may be this thread.
  static void write(const Client& client, std::string_view bytes) {
    constexpr int patience = 1000;
    while (!bytes.empty()) {
      const ssize_t sent =
          ::send(client.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      pollfd writable{.fd = client.socket.get(), .events = POLLOUT, .revents = 0};
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      if (sent == 0 || (sent < 0 && errno != EAGAIN)) return;
      if (sent < 0 && ::poll(&writable, 1, patience) <= 0) return;
    }
  }

 private:
  /// False: the client has closed the connection.
  static bool receive(Client& client) {
    char part[16384];
    const ssize_t size = ::recv(client.socket.get(), part, sizeof part, MSG_DONTWAIT);
    if (size <= 0) return false;
    client.received.append(part, static_cast<std::size_t>(size));
    return true;
  }
  template <class Greet>
  void accept(Greet& greet) {
    FileDescriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) return;
    Client& made = clients_.emplace_back();
    made.socket = std::move(socket);
    greet(made);
  }

  FileDescriptor listening_;
  std::list<Client> clients_;
};

}  // namespace latchkey::tests
