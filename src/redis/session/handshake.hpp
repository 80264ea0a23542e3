// The first commands on a new connection.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/failure.hpp"
#include "redis/session/channel_subscriptions.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

/// HELLO 3, with AUTH if there is a user or a password.
void append_hello(CommandBuffer& out, std::string_view user, std::string_view password,
                  std::string_view client_name);

using ServerVersion = std::array<int, 3>;

/// Logs in, ends the previous connection of this session and subscribes to its channels. No request
/// is sent before the handshake has settled. Pure: replies in, commands out.
///
/// | flight | command                                      | purpose                              |
/// |--------|----------------------------------------------|--------------------------------------|
/// | 1      | HELLO 3 [AUTH user password] SETNAME name    | RESP3, login                         |
/// |        | INFO                                         | the server's run_id; whether it may  |
/// |        |                                              | evict held locks                     |
/// |        | PUBSUB SHARDNUMSUB                           | cluster: whether SPUBLISH exists; if |
/// |        |                                              | it is forbidden, the version says so |
/// |        | WAIT 0 0                                     | min_replicas: whether WAIT works     |
/// | 2      | SELECT database                              | unless it is 0                       |
/// |        | CLIENT KILL ID of the previous connection    | commands that were sent on it do not |
/// |        |                                              | run later                            |
/// |        | HDEL of a field (SET NX PX: DEL of a key)    | first connection: the permission     |
/// |        | that does not exist                          | without which no lock is released    |
/// |        | CLIENT TRACKING ON OPTIN NOLOOP, CLIENT      | watches, since Redis 7.0.5: whether  |
/// |        | CACHING YES, EXISTS of a key that nobody has | the server tells of changes of keys  |
/// |        | SUBSCRIBE channels, PING                     | if there are channels that are not   |
/// |        |                                              | sharded                              |
///
/// A server that was restarted gives old client ids to new clients. CLIENT KILL then names an id
/// that no client has, and so does the first one, which asks whether CLIENT KILL is permitted.
class Handshake {
 public:
  struct Login {
    std::string user, password, client_name;
    int database = 0;
    /// The server is to be a node of a cluster, of any role: each one knows the slot map.
    bool cluster = false;
    std::string cluster_uri{};  ///< suggested if the server is a node of a cluster; empty: none
    ShardedPubSub sharded = ShardedPubSub::automatic;  ///< cluster
    bool replicas = false;                             ///< grants wait for WAIT
    bool watches = false;  ///< keys are watched if the server permits it
    const Layout* layout = &redisson_layout;
  };
  enum class Step : std::uint8_t { in_progress, settled, failed };

  explicit Handshake(Login login) : login_(std::move(login)) {}

  /// A new connection begins.
  void start(CommandBuffer& out);
  /// The server's next reply that is no push. Throws std::bad_alloc.
  Step on_reply(const redisReply& reply, const ChannelSubscriptions& wanted, CommandBuffer& out);
  /// A push confirmed the SUBSCRIBE.
  void on_channels_confirmed() noexcept {
    if (subscribe_ == Subscribe::unanswered) subscribe_ = Subscribe::confirmed;
  }
  /// The connection that had settled is gone: the next handshake ends it.
  void on_connection_lost() noexcept { previous_ = std::exchange(current_, {}); }

  /// Whether the SUBSCRIBE of all channels was rejected.
  [[nodiscard]] bool channels_rejected() const noexcept {
    return subscribe_ == Subscribe::rejected;
  }

  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
  [[nodiscard]] bool answered_anything() const noexcept { return replies_ > 0; }
  /// Whether CLIENT KILL is permitted; empty before the first handshake has settled.
  [[nodiscard]] std::optional<bool> may_kill() const noexcept { return may_kill_; }
  /// Whether releases are published with SPUBLISH.
  [[nodiscard]] bool sharded() const noexcept { return sharded_; }

  /// Whether the server tells of changes of the keys that are read after CLIENT CACHING YES; true
  /// before the first connection.
  [[nodiscard]] bool watches() const noexcept;

  /// The server's run_id; empty: there is no connection, or INFO does not say.
  [[nodiscard]] const std::string& run_id() const noexcept { return current_.run_id; }
  /// Why the server is a bad choice, as clauses; empty: it is fine.
  [[nodiscard]] std::string warning() const;

  /// In a forked child: the connections belong to the parent.
  void forget() noexcept { previous_ = current_ = {}; }

 private:
  enum class Command : std::uint8_t {
    hello,
    info,
    sharded,
    replicas,
    select,
    kill,
    tracking,
    caching,
    // Servers that are not ready may fail these.
    remove,
    reading,
    channels
  };
  enum class Subscribe : std::uint8_t { unanswered, confirmed, rejected };
  struct Connection {
    std::int64_t client_id = 0;  ///< 0: none
    std::string run_id;          ///< the server's; empty: INFO does not say
  };

  void expect(Command command) noexcept { commands_[expected_++] = command; }
  Step fail(Failure failure);
  Step on_hello(const redisReply& reply);
  Step send_second_flight(const ChannelSubscriptions& wanted, CommandBuffer& out);
  Step on_sharded(const redisReply& reply);
  Step on_kill(const redisReply& reply);
  void on_watch_reply(Command command, const redisReply& reply);
  [[nodiscard]] std::int64_t client_to_kill() const noexcept;

  const Login login_;
  std::array<Command, 11> commands_{};
  std::size_t expected_ = 0, replies_ = 0, first_flight_ = 0;
  Subscribe subscribe_ = Subscribe::unanswered;
  bool sharded_ = false;
  ServerVersion version_{};  ///< of the server, the current or the last one; 0.0.0: not known
  bool is_replica_ = false;
  Connection current_, previous_;
  std::optional<bool> may_kill_;
  std::string warning_;        ///< from its INFO
  std::string watch_refusal_;  ///< the error of one of the commands that watch a key
  Failure failure_;
};

}  // namespace latchkey::inline v1::detail::redis
