// What a redis: URI, or one of its kin, says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::detail::redis {

/// Servers, and how to log in.
///
///     redis://[user][:password]@host[:port][/database][?option=value&…]
///     rediss://…                          the same over TLS
///     redis+unix:///path/to/socket[?db=number&…]
///     redis+sentinel://[user][:password]@host[:port][,host[:port]…]/master[/database][?…]
///     redis+cluster://[user][:password]@host[:port][,host[:port]…][?…]
///     rediss+sentinel://…, rediss+cluster://…      the same over TLS
///
/// All parts are percent-decoded; an IPv6 address stands in brackets. The hosts of redis+sentinel
/// are sentinels, those of redis+cluster any nodes of it: the others are found out.
///
/// | option            | what it is                                            | default          |
/// |-------------------|-------------------------------------------------------|------------------|
/// | client_name       | what CLIENT LIST shows                                | latchkey         |
/// | db                | redis+unix: the database                              | 0                |
/// | sentinel_user     | …+sentinel: who we are to the sentinels               | their default    |
/// | sentinel_password | …+sentinel: the password for the sentinels            | none             |
/// | cafile            | rediss: a file of certificates to trust               | the system's     |
/// | cert, key         | rediss: this client's certificate and its private key | none             |
/// |                   | (files)                                               |                  |
/// | servername        | rediss: the name in the server's certificate          | the host         |
struct RedisUri {
  enum class Transport : std::uint8_t { tcp, tls, unix_socket };
  enum class Deployment : std::uint8_t { server, sentinel, cluster };
  struct Endpoint {
    std::string host;  ///< without brackets
    std::uint16_t port = 6379;

    [[nodiscard]] std::string text() const;
    friend bool operator==(const Endpoint&, const Endpoint&) = default;
  };

  /// Throws std::invalid_argument: one sentence, in which neither user nor password appear.
  static RedisUri parse(std::string_view text);

  /// Scheme, hosts, ports and database, or the path: for messages.
  [[nodiscard]] std::string describe() const;

  /// One of the servers, and one of the sentinels.
  [[nodiscard]] RedisUri server_at(const Endpoint& where) const;
  [[nodiscard]] RedisUri sentinel_at(const Endpoint& where) const;

  /// The name that the server's certificate is to be for.
  [[nodiscard]] const std::string& tls_name() const noexcept {
    return server_name.empty() ? place.host : server_name;
  }

  /// Is there anything to log in with?
  [[nodiscard]] bool logs_in() const noexcept { return !user.empty() || !password.empty(); }

  Transport transport = Transport::tcp;
  Deployment deployment = Deployment::server;
  Endpoint place;                ///< server
  std::vector<Endpoint> places;  ///< sentinel, cluster: one at least
  std::string master;            ///< sentinel: the name that they know it by
  std::string path;              ///< of the socket
  std::string user;              ///< empty: the server's default user
  std::string password;
  int database = 0;
  std::string client_name = "latchkey";
  std::string sentinel_user;
  std::string sentinel_password;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string server_name;
};

}  // namespace latchkey::detail::redis
