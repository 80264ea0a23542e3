// An HTTP/2 proxy in front of etcd, as nginx or a cloud's balancer is one, with its own will.
#include "http2_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace latchkey::tests {
namespace {

constexpr std::size_t size_of_preface = 24;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::string big_endian(std::uint32_t number) {
  return {static_cast<char>(number >> 24U), static_cast<char>(number >> 16U),
          static_cast<char>(number >> 8U), static_cast<char>(number)};
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) noexcept {
  std::uint32_t number = 0;
  for (std::size_t byte = at; byte < at + size; ++byte) {
    number = number << 8U | static_cast<unsigned char>(bytes[byte]);
  }
  return number;
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return;  // the other side learns that from its own socket
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

}  // namespace

Http2Frame Http2Frame::make(Type type, std::uint8_t flags, std::uint32_t stream,
                            std::string_view content) {
  std::string made = big_endian(static_cast<std::uint32_t>(content.size())).substr(1);
  made += static_cast<char>(type);
  made += static_cast<char>(flags);
  return {made + big_endian(stream) + std::string(content)};
}

// The index 8 of HPACK's static table is `:status` (RFC 7541, appendix A).
Http2Frame Http2Frame::error(std::uint32_t stream, std::string_view status) {
  std::string field{'\x08', static_cast<char>(status.size())};
  return make(headers, end_stream | end_headers, stream, field.append(status));
}

Http2Frame Http2Frame::goaway_after(std::uint32_t last) {
  return make(goaway, 0, 0, big_endian(last) + big_endian(0));
}

Http2Frame Http2Frame::cancel(std::uint32_t stream) {
  constexpr std::uint32_t code = 8;  // CANCEL
  return make(reset, 0, stream, big_endian(code));
}

Http2Frame Http2Frame::window_update(std::uint32_t size) {
  return make(window, 0, 0, big_endian(size));
}

// SETTINGS_HEADER_TABLE_SIZE is 1, and has 16 bits; its value has 32.
std::string Http2Frame::no_header_table() { return std::string("\0\1", 2) + big_endian(0); }

std::uint32_t Http2Frame::stream() const noexcept { return number_at(bytes, 5, 4); }

Http2Proxy::Http2Proxy(std::uint16_t server_port, Rule from_client, Rule from_server)
    : Http2Proxy(server_port, [rules = Rules{std::move(from_client), std::move(from_server)}] {
        return rules;
      }) {}

Http2Proxy::Http2Proxy(std::uint16_t server_port, std::function<Rules()> make_rules)
    : server_port_(server_port),
      make_rules_(std::move(make_rules)),
      listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening_, plain, size) != 0 || ::listen(listening_, 8) != 0 ||
      ::getsockname(listening_, plain, &size) != 0) {
    throw std::runtime_error("cannot listen on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Http2Proxy::~Http2Proxy() {
  thread_.request_stop();
  thread_.join();
  for (const auto& each : connections_) {
    ::close(each->client);
    ::close(each->server);
  }
  ::close(listening_);
}

void Http2Proxy::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::vector<pollfd> wanted{{.fd = listening_, .events = POLLIN, .revents = 0}};
    for (const auto& each : connections_) {
      wanted.push_back({.fd = each->client, .events = POLLIN, .revents = 0});
      wanted.push_back({.fd = each->server, .events = POLLIN, .revents = 0});
    }
    if (::poll(wanted.data(), wanted.size(), 20) <= 0) continue;
    std::vector<std::unique_ptr<Connection>> open;
    for (std::size_t index = 0; index < connections_.size(); ++index) {
      Connection& one = *connections_[index];
      const bool goes_on = (wanted[2 * index + 1].revents == 0 ||
                            forward(one, one.client, one.from_client, one.rules.from_client)) &&
                           (wanted[2 * index + 2].revents == 0 ||
                            forward(one, one.server, one.from_server, one.rules.from_server));
      if (goes_on) {
        open.push_back(std::move(connections_[index]));
      } else {
        ::close(one.client);
        ::close(one.server);
      }
    }
    connections_ = std::move(open);
    if (wanted[0].revents != 0) accept_one();
  }
}

void Http2Proxy::accept_one() {
  const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(server_port_);
  const int on = 1;
  for (const int socket : {client, server}) {
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(client);
    ::close(server);
    return;
  }
  connections_.push_back(
      std::make_unique<Connection>(Connection{client, server, make_rules_(), {}, {}}));
}

bool Http2Proxy::forward(Connection& connection, int from, std::string& arrived, const Rule& rule) {
  char part[16'384];
  const ssize_t size = ::recv(from, part, sizeof part, 0);
  if (size <= 0) return false;
  arrived.append(part, static_cast<std::size_t>(size));
  if (from == connection.client && !connection.greeted) {
    if (arrived.size() < size_of_preface) return true;
    connection.greeted = true;
    send_all(connection.server, std::string_view(arrived).substr(0, size_of_preface));
    arrived.erase(0, size_of_preface);
  }
  Answer all;
  while (arrived.size() >= Http2Frame::head_size) {
    const std::size_t whole = Http2Frame::head_size + number_at(arrived, 0, 3);
    if (arrived.size() < whole) break;
    const Answer one = rule({arrived.substr(0, whole)});
    arrived.erase(0, whole);
    all.to_server += one.to_server;
    all.to_client += one.to_client;
  }
  send_all(connection.server, all.to_server);
  send_all(connection.client, all.to_client);
  return true;
}

}  // namespace latchkey::tests
