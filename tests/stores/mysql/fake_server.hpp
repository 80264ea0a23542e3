// A server that speaks as much of MySQL's protocol as lies need.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/file_descriptor.hpp"
#include "support/servers/client_list.hpp"
#include "support/servers/loopback.hpp"

namespace latchkey::tests {

/// The packets of a server, with their numbers.
namespace mysql_wire {

inline std::string number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes; ++at) text += static_cast<char>(value >> (8 * at) & 255U);
  return text;
}
inline std::string packet(unsigned char sequence, const std::string& body) {
  return number(body.size(), 3) + static_cast<char>(sequence) + body;
}
/// A text with its length.
inline std::string counted(std::string_view text) {
  const bool is_short = text.size() < 251;
  std::string all = is_short ? number(text.size(), 1) : '\xfd' + number(text.size(), 3);
  return all += text;
}

/// The greeting of MariaDB 10.11, without TLS.
inline std::string greeting() {
  using namespace std::string_literals;
  // protocol 4.1, secure connection, plugins, multiple statements and results, transactions,
  // database
  constexpr std::uint64_t capabilities = 0x000b'a209;
  return packet(0, "\x0a"s + "5.5.5-10.11.19-MariaDB\0"s + number(7, 4) + "12345678\0"s +
                       number(capabilities, 2) + "\x2d"s + number(2, 2) +
                       number(capabilities >> 16U, 2) + "\x15"s + std::string(10, '\0') +
                       "123456789012\0"s + "mysql_native_password\0"s);
}
/// `more`: another result follows.
inline std::string ok(unsigned char& sequence, bool more, std::uint64_t changed = 0) {
  const std::string body = number(0, 1) + number(changed % 251, 1) + number(0, 1) +
                           number(more ? 10 : 2, 2) + number(0, 2);
  return packet(sequence++, body);
}
inline std::string error(unsigned char& sequence, unsigned code, const std::string& text) {
  return packet(sequence++, '\xff' + number(code, 2) + "#HY000" + text);
}
inline std::string end_of_rows(unsigned char& sequence, bool more) {
  return packet(sequence++, '\xfe' + number(0, 2) + number(more ? 10 : 2, 2));
}
inline std::string result(unsigned char& sequence, std::size_t columns,
                          const std::vector<std::vector<std::string>>& rows, bool more) {
  std::string all = packet(sequence++, number(columns, 1));
  for (std::size_t at = 0; at < columns; ++at) {
    const std::string column = counted("def") + counted("") + counted("") + counted("") +
                               counted("c") + counted("") + number(12, 1) + number(45, 2) +
                               number(255, 4) + number(253, 1) + number(0, 5);
    all += packet(sequence++, column);
  }
  all += end_of_rows(sequence, false);
  for (const auto& row : rows) {
    std::string cells;
    for (const std::string& cell : row) cells += counted(cell);
    all += packet(sequence++, cells);
  }
  return all += end_of_rows(sequence, more);
}

}  // namespace mysql_wire

/// Listens on a free port of 127.0.0.1. One thread at a time.
class FakeMysqlServer {
 public:
  /// The reply to the packet `index` of a connection, of which 0 is the log-in and has the number
  /// `sequence`. Empty: the connection is closed.
  using Answer = std::function<std::optional<std::string>(std::size_t index, unsigned char sequence,
                                                          const std::string& body)>;

  explicit FakeMysqlServer(Answer answer)
      : answer_(std::move(answer)), port_(listen_on_loopback(clients_.listening())) {}

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  /// Serves what has arrived, or arrives within `milliseconds`. False: nothing has.
  bool work(int milliseconds) {
    return clients_.work(
        milliseconds, [this](Client& client) { return serve(client); },
        [](Client& client) { Clients::write(client, mysql_wire::greeting()); });
  }

 private:
  struct Client {
    latchkey::detail::FileDescriptor socket{};
    std::string received{};
    std::size_t packets = 0;
  };
  using Clients = ClientList<Client>;

  bool serve(Client& client) {
    std::string& all = client.received;
    const auto byte = [&](std::size_t at) -> std::size_t {
      return static_cast<unsigned char>(all[at]);
    };
    while (all.size() >= 4) {
      const std::size_t length = byte(0) | byte(1) << 8U | byte(2) << 16U;
      if (all.size() < 4 + length) break;
      const auto reply =
          answer_(client.packets++, static_cast<unsigned char>(all[3]), all.substr(4, length));
      all.erase(0, 4 + length);
      if (!reply) return false;
      Clients::write(client, *reply);
    }
    return true;
  }

  const Answer answer_;
  Clients clients_{
      latchkey::detail::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  const std::uint16_t port_;
};

}  // namespace latchkey::tests
