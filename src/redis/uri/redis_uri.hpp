// Servers and login, as a Redis URI names them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/uri/tls_options.hpp"
#include "backend/uri/uri_syntax.hpp"
#include "redis/protocol/layout.hpp"

namespace latchkey::inline v1::detail::redis {

/// Whether waiters are notified by SPUBLISH in a cluster. `automatic`: as Redisson decides.
enum class ShardedPubSub : std::uint8_t { automatic, on, off };

/// The parts of a Redis URI.
///
///     redis://[user][:password]@host[:port][/database][?option=value&…]
///     rediss://…                          the same over TLS
///     redis+unix:///path/to/socket[?db=number&…]
///     redis+sentinel://[user][:password]@host[:port][,host[:port]…]/master[/database][?…]
///     redis+cluster://[user][:password]@host[:port][,host[:port]…][?…]
///     rediss+sentinel://…, rediss+cluster://…      the same over TLS
///     redis+set://[user][:password]@host[:port][/database][?format=redlock&…]
///     rediss+set://…                               the same over TLS
///
/// All parts are percent-decoded. An IPv6 address is enclosed in brackets. The hosts of
/// redis+sentinel are sentinels. Those of redis+cluster are some nodes of the cluster, which name
/// the others.
///
/// | option            | meaning                                               | default          |
/// |-------------------|-------------------------------------------------------|------------------|
/// | client_name       | the name in CLIENT LIST                               | latchkey         |
/// | min_replicas      | how many replicas must confirm a grant and everything | 0                |
/// |                   | that prolongs one; a server without WAIT is refused   |                  |
/// | sharded_pubsub    | …+cluster: whether waiters are notified by SPUBLISH:  | auto             |
/// |                   | on (a node without it is refused), off, or auto as    |                  |
/// |                   | Redisson decides                                      |                  |
/// | db                | redis+unix: the database                              | 0                |
/// | sentinel_user     | …+sentinel: the user for the sentinels                | their default    |
/// | sentinel_password | …+sentinel: the password for the sentinels            | none             |
/// | tls_…             | rediss: TlsOptions                                    |                  |
/// | format            | redis+set: how owners are spelled: hold_id, redlock   | hold_id          |
/// |                   | or redsync                                            |                  |
struct RedisUri {
  enum class Transport : std::uint8_t { tcp, tls, unix_socket };
  enum class Deployment : std::uint8_t { server, sentinel, cluster };
  enum class Locks : std::uint8_t { redisson, set };
  using Endpoint = UriEndpoint;

  /// Throws std::invalid_argument with one sentence that contains neither user nor password.
  static RedisUri parse(std::string_view text);

  /// Scheme, hosts, ports and database, or the path. For messages.
  [[nodiscard]] std::string describe() const;

  /// The URI of one server, and of one sentinel.
  [[nodiscard]] RedisUri server_at(const Endpoint& where) const;
  [[nodiscard]] RedisUri sentinel_at(const Endpoint& where) const;

  /// The name that the server's certificate must be valid for.
  [[nodiscard]] const std::string& tls_name() const noexcept {
    return tls.server_name.empty() ? endpoint.host : tls.server_name;
  }

  /// How locks are kept on these servers.
  [[nodiscard]] const Layout& layout() const noexcept {
    return locks == Locks::set ? set_layout(owners) : redisson_layout;
  }

  /// Whether there is a user or a password.
  [[nodiscard]] bool logs_in() const noexcept { return !user.empty() || !password.empty(); }

  Transport transport = Transport::tcp;
  Deployment deployment = Deployment::server;
  Locks locks = Locks::redisson;
  OwnerFormat owners = OwnerFormat::hold_id;  ///< set
  Endpoint endpoint;                          ///< server
  std::vector<Endpoint> endpoints;            ///< sentinel, cluster: at least one
  std::string master;                         ///< sentinel: the name of the master
  std::string path;                           ///< redis+unix: the socket's path
  std::string user;                           ///< empty: the server's default user
  std::string password;
  int database = 0;
  std::string client_name = "latchkey";
  std::string sentinel_user;
  std::string sentinel_password;
  int min_replicas = 0;
  ShardedPubSub sharded_pubsub = ShardedPubSub::automatic;  ///< cluster
  TlsOptions tls;
};

}  // namespace latchkey::inline v1::detail::redis
