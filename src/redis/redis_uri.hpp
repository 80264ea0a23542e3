// What a redis:, rediss: or redis+unix: URI says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace latchkey::detail::redis {

/// One server and how to log in.
///
///     redis://[user][:password]@host[:port][/database][?option=value&…]
///     rediss://…                          the same over TLS
///     redis+unix:///path/to/socket[?db=number&…]
///
/// All parts are percent-decoded; an IPv6 address stands in brackets.
///
/// | option       | what it is                                                    | default      |
/// |--------------|---------------------------------------------------------------|--------------|
/// | client_name  | what CLIENT LIST shows                                        | latchkey     |
/// | db           | the database, redis+unix only                                 | 0            |
/// | cafile       | rediss: a file of certificates to trust                       | the system's |
/// | cert, key    | rediss: this client's certificate and its private key (files) | none         |
/// | servername   | rediss: the name in the server's certificate                  | the host     |
struct RedisUri {
  enum class Transport : std::uint8_t { tcp, tls, unix_socket };

  /// Throws std::invalid_argument: one sentence, in which neither user nor password appear.
  static RedisUri parse(std::string_view text);

  /// Scheme, host, port and database, or the path: for messages.
  [[nodiscard]] std::string describe() const;

  /// Is there anything to log in with?
  [[nodiscard]] bool logs_in() const noexcept { return !user.empty() || !password.empty(); }

  Transport transport = Transport::tcp;
  std::string host;  ///< without brackets
  std::uint16_t port = 6379;
  std::string path;  ///< of the socket
  std::string user;  ///< empty: the server's default user
  std::string password;
  int database = 0;
  std::string client_name = "latchkey";
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string server_name;
};

}  // namespace latchkey::detail::redis
