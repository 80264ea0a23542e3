// A server that speaks as much of PostgreSQL's protocol as lies need.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/file_descriptor.hpp"
#include "support/servers/client_list.hpp"

namespace latchkey::tests {

/// The messages of a server (version 3 of the protocol).
namespace postgresql_wire {

inline std::string number(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned at = bytes; at > 0; --at) text += static_cast<char>(value >> (8 * (at - 1)) & 255U);
  return text;
}
inline std::string message(char kind, const std::string& body = {}) {
  return kind + number(body.size() + 4, 4) + body;
}
inline std::string ready() { return message('Z', "I"); }
inline std::string error(const std::string& state, const std::string& text) {
  using namespace std::string_literals;
  return message('E', "SERROR\0C"s + state + "\0M"s + text + "\0\0"s);
}
inline std::string notification(const std::string& channel, const std::string& payload) {
  return message('A', number(7, 4) + channel + '\0' + payload + '\0');
}

/// The rows of a result; a cell without a text is NULL.
struct Table {
  std::size_t columns = 0;
  std::vector<std::vector<std::optional<std::string>>> rows{};
};
inline std::string described(const Table& table) {
  if (table.columns == 0) return message('n');
  std::string body = number(table.columns, 2);
  for (std::size_t at = 0; at < table.columns; ++at) {
    constexpr std::uint64_t type_of_text = 25;
    body += 'c' + number(0, 1 + 4 + 2) + number(type_of_text, 4) + number(0xffff, 2) +
            number(0xffff'ffff, 4) + number(0, 2);
  }
  return message('T', body);
}
inline std::string executed(const Table& table) {
  std::string all;
  for (const auto& row : table.rows) {
    std::string body = number(row.size(), 2);
    for (const auto& cell : row) {
      body += cell ? number(cell->size(), 4) + *cell : number(0xffff'ffff, 4);
    }
    all += message('D', body);
  }
  return all += message('C', std::string("SELECT 1") + '\0');
}

}  // namespace postgresql_wire

/// Listens on a Unix socket in a folder of its own. One thread at a time.
class FakePostgresqlServer {
 public:
  struct Asked {
    char kind = 0;    ///< the message: Q (query), D (describe), E (execute) or S (synchronise)
    std::string sql;  ///< the text of the query, or of the statement that was bound last
  };
  /// The reply. Empty: the connection is closed. The server replies to the other messages itself.
  using Answer = std::function<std::optional<std::string>(const Asked& asked)>;

  explicit FakePostgresqlServer(Answer answer) : answer_(std::move(answer)) {
    folder_ = std::filesystem::temp_directory_path() / "latchkey-pg-XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no temporary folder");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder_ + "/.s.PGSQL.5432").copy(address.sun_path, sizeof address.sun_path - 1);
    const int socket = clients_.listening();
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket, 8) != 0) {
      throw std::runtime_error("cannot listen in " + folder_);
    }
  }
  FakePostgresqlServer(const FakePostgresqlServer&) = delete;
  FakePostgresqlServer& operator=(const FakePostgresqlServer&) = delete;
  ~FakePostgresqlServer() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  /// `options`: further ones, with `&` before each.
  [[nodiscard]] std::string uri(const std::string& options = {}) const {
    return "postgresql://app@/app?host=" + folder_ + options;
  }
  /// Sends bytes that answer nothing to every client.
  void say(const std::string& bytes) {
    for (const Client& each : clients_) Clients::write(each, bytes);
  }

  /// Serves what has arrived, or arrives within `milliseconds`. False: nothing has.
  bool work(int milliseconds) {
    return clients_.work(milliseconds, [this](Client& client) { return serve(client); });
  }

 private:
  struct Client {
    latchkey::detail::FileDescriptor socket{};
    std::string received{};
    bool greeted = false;
    std::map<std::string, std::string> statements{};
    std::string bound{};
  };
  using Clients = ClientList<Client>;

  static std::string greeting() {
    using namespace postgresql_wire;
    using namespace std::string_literals;
    return message('R', number(0, 4)) + message('S', "server_version\0"s + "15.4\0"s) +
           message('S', "client_encoding\0UTF8\0"s) + message('K', number(77, 4) + number(1, 4)) +
           ready();
  }

  bool serve(Client& client) {
    std::string& all = client.received;
    for (;;) {
      const std::size_t head = client.greeted ? 5 : 4;  // the first message has no kind
      if (all.size() < head) return true;
      std::size_t length = 0;
      for (std::size_t at = head - 4; at < head; ++at) {
        length = length << 8U | static_cast<unsigned char>(all[at]);
      }
      const std::size_t whole = length + head - 4;
      if (all.size() < whole) return true;
      const char kind = client.greeted ? all.front() : '\0';
      const std::string body = all.substr(head, whole - head);
      all.erase(0, whole);
      if (!on_message(client, kind, body)) return false;
    }
  }
  bool on_message(Client& client, char kind, const std::string& body) {
    using namespace postgresql_wire;
    const auto text_at = [&](std::size_t at) { return body.substr(at, body.find('\0', at) - at); };
    switch (kind) {
      case '\0': client.greeted = true; return say_to(client, greeting());
      case 'P': {
        const std::string name = text_at(0);
        client.statements[name] = text_at(name.size() + 1);
        return say_to(client, message('1'));
      }
      case 'B':
        client.bound = client.statements[text_at(text_at(0).size() + 1)];
        return say_to(client, message('2'));
      case 'Q': return say_to(client, answer_({kind, text_at(0)}));
      case 'D': {
        const bool of_statement = body.front() == 'S';
        return say_to(client, answer_({kind, of_statement ? std::string() : client.bound}));
      }
      case 'E':
      case 'S': return say_to(client, answer_({kind, client.bound}));
      default: return kind != 'X';
    }
  }
  static bool say_to(const Client& client, const std::optional<std::string>& bytes) {
    if (bytes) Clients::write(client, *bytes);
    return bytes.has_value();
  }

  const Answer answer_;
  Clients clients_{
      latchkey::detail::FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  std::string folder_;
};

}  // namespace latchkey::tests
