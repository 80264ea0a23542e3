// FaultProxy: one thread polls all sockets.
#include "support/servers/fault_proxy.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <future>
#include <stdexcept>

namespace latchkey::tests {
namespace {

using Time = ProxyStream::Time;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void prepare(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
}

void close_socket(int& socket, bool reset) {
  if (socket == -1) return;
  const linger at_once{1, 0};
  if (reset) ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(socket);
  socket = -1;
}

// False if the connection has failed.
bool read_into(ProxyStream& stream, int from, Time now) {
  std::array<char, 16'384> bytes{};
  while (stream.reads()) {
    const ssize_t count = ::read(from, bytes.data(), bytes.size());
    if (count > 0) {
      stream.put(std::string(bytes.data(), static_cast<std::size_t>(count)), now);
    } else if (count == 0) {
      stream.ended = true;
    } else {
      return errno == EAGAIN || errno == EINTR;
    }
  }
  return true;
}

bool write_from(ProxyStream& stream, int to, Time now) {
  for (std::string_view bytes = stream.ready(now); !bytes.empty(); bytes = stream.ready(now)) {
    const ssize_t count = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    stream.written(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

FaultProxy::FaultProxy(std::uint16_t server_port) : server_port_(server_port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    throw std::runtime_error("the fault proxy cannot listen on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread([this] { run(); });
}

FaultProxy::~FaultProxy() {
  carry_out([this] { ending_ = true; });
  thread_.join();
  for (const auto& connection : connections_) close_both(*connection, true);
  ::close(listener_);
  ::close(wake_);
}

void FaultProxy::carry_out(std::function<void()> command) {
  const auto done = std::make_shared<std::promise<void>>();
  std::future<void> finished = done->get_future();
  {
    const std::lock_guard lock(mutex_);
    commands_.emplace_back([done, command = std::move(command)] {
      command();
      done->set_value();
    });
  }
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) != sizeof one)
    throw std::runtime_error("the fault proxy cannot be woken");
  if (finished.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
    throw std::runtime_error("the fault proxy does not answer");
  }
}

void FaultProxy::for_all(Direction direction, const std::function<void(ProxyStream&)>& change) {
  for (const auto& connection : connections_) {
    change(direction == Direction::to_server ? connection->to_server : connection->to_client);
  }
}

void FaultProxy::hold(Direction direction) {
  carry_out([&] { for_all(direction, [](ProxyStream& stream) { stream.rules.holding = true; }); });
}

void FaultProxy::pass(Direction direction) {
  carry_out([&] {
    rules_[static_cast<int>(direction)] = {};
    for_all(direction, [](ProxyStream& stream) { stream.rules = {}; });
  });
}

void FaultProxy::delay(Direction direction, std::chrono::milliseconds time) {
  carry_out([&] {
    rules_[static_cast<int>(direction)].delay = time;
    for_all(direction, [&](ProxyStream& stream) { stream.rules.delay = time; });
  });
}

void FaultProxy::drop(Direction direction) {
  carry_out([&] {
    rules_[static_cast<int>(direction)].dropping = true;
    for_all(direction, [](ProxyStream& stream) { stream.rules.dropping = true; });
  });
}

void FaultProxy::fragment(Direction direction, std::size_t size) {
  carry_out([&] {
    rules_[static_cast<int>(direction)].fragment = size;
    for_all(direction, [&](ProxyStream& stream) { stream.rules.fragment = size; });
  });
}

void FaultProxy::freeze(Direction direction) {
  carry_out([&] {
    rules_[static_cast<int>(direction)].frozen = true;
    for_all(direction, [](ProxyStream& stream) { stream.rules.frozen = true; });
  });
}

void FaultProxy::cut_after(Direction direction, std::size_t bytes) {
  carry_out(
      [&] { for_all(direction, [&](ProxyStream& stream) { stream.rules.cut_after = bytes; }); });
}

void FaultProxy::cut() {
  carry_out([&] {
    for (const auto& connection : connections_) close_both(*connection, true);
  });
}

void FaultProxy::cut_clients() {
  carry_out([&] {
    for (const auto& connection : connections_) reset_client(*connection);
  });
}

void FaultProxy::refuse(bool yes) {
  carry_out([&] { refusing_ = yes; });
}

std::size_t FaultProxy::connections() {
  std::size_t open = 0;
  carry_out([&] {
    for (const auto& connection : connections_) open += connection->client != -1 ? 1 : 0;
  });
  return open;
}

std::size_t FaultProxy::made() {
  std::size_t count = 0;
  carry_out([&] { count = made_; });
  return count;
}

void FaultProxy::reset_client(Connection& connection) {
  close_socket(connection.client, true);
  connection.client_gone = true;
  connection.to_client.clear();
  connection.to_server.ended = true;
}

void FaultProxy::close_both(Connection& connection, bool reset) {
  close_socket(connection.client, reset);
  close_socket(connection.server, reset);
}

void FaultProxy::accept_one() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client == -1) return;
  auto connection = std::make_unique<Connection>();
  connection->client = client;
  connection->server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(server_port_);
  if (refusing_ || ::connect(connection->server, reinterpret_cast<const sockaddr*>(&address),
                             sizeof address) != 0) {
    return close_both(*connection, true);
  }
  prepare(connection->client);
  prepare(connection->server);
  connection->to_server.rules = rules_[static_cast<int>(Direction::to_server)];
  connection->to_client.rules = rules_[static_cast<int>(Direction::to_client)];
  connections_.push_back(std::move(connection));
  ++made_;
}

// Reads from both ends, writes to both, and closes connections that have ended.
void FaultProxy::forward(Connection& connection) {
  const Time now = std::chrono::steady_clock::now();
  ProxyStream& up = connection.to_server;
  ProxyStream& down = connection.to_client;
  const bool client_is_up = connection.client == -1 || (read_into(up, connection.client, now) &&
                                                        write_from(down, connection.client, now));
  if (!client_is_up) reset_client(connection);
  if (!read_into(down, connection.server, now) || !write_from(up, connection.server, now)) {
    return close_both(connection, true);
  }
  if (up.is_cut() || down.is_cut()) return close_both(connection, true);
  if (connection.client_gone) down.clear();
  const bool client_done = up.ended && up.empty();
  const bool server_done = down.ended && down.empty();
  if (client_done || server_done) close_both(connection, false);
}

void FaultProxy::run() {
  while (!ending_) {
    std::vector<pollfd> sockets{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    Time due = Time::max();
    for (const auto& each : connections_) {
      const Time now = std::chrono::steady_clock::now();
      const auto watch = [&](int socket, const ProxyStream& in, const ProxyStream& out) {
        if (socket == -1) return;
        const int events = (in.reads() ? POLLIN : 0) | (out.ready(now).empty() ? 0 : POLLOUT);
        sockets.push_back({socket, static_cast<short>(events), 0});
      };
      watch(each->client, each->to_server, each->to_client);
      watch(each->server, each->to_client, each->to_server);
      due = std::min({due, each->to_server.due(), each->to_client.due()});
    }
    int timeout = -1;
    if (due != Time::max()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
      timeout = static_cast<int>(std::max<std::int64_t>(0, left.count()));
    }
    ::poll(sockets.data(), sockets.size(), timeout);
    if ((sockets[0].revents & POLLIN) != 0) {
      std::uint64_t count = 0;
      if (::read(wake_, &count, sizeof count) < 0 && errno != EAGAIN) return;
    }
    if ((sockets[1].revents & POLLIN) != 0) accept_one();
    for (const auto& each : connections_) {
      if (each->server != -1) forward(*each);
    }
    std::deque<std::function<void()>> commands;
    {
      const std::lock_guard lock(mutex_);
      commands.swap(commands_);
    }
    for (const auto& command : commands) command();
    std::erase_if(connections_, [](const auto& each) { return each->server == -1; });
  }
}

}  // namespace latchkey::tests
