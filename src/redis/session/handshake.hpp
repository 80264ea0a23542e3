// The first words on a new connection.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/options.hpp>

#include "redis/failure.hpp"
#include "redis/protocol/command_buffer.hpp"
#include "redis/session/subscriptions.hpp"

namespace latchkey::detail::redis {

/// HELLO 3, with AUTH where there is a user or a password.
void append_hello(CommandBuffer& out, std::string_view user, std::string_view password,
                  std::string_view client_name);

/// Says who we are, ends our connection before this one, and subscribes to what is wanted; no
/// request goes out before. Pure: replies in, commands out.
///
/// | flight | commands                                          | why                             |
/// |--------|---------------------------------------------------|---------------------------------|
/// | 1      | HELLO 3 [AUTH user password] SETNAME name         | RESP3, login                    |
/// |        | INFO                                              | which run of the server is this,|
/// |        |                                                   | and may it evict held locks     |
/// |        | PUBSUB SHARDNUMSUB                                | in a cluster: has it SPUBLISH   |
/// |        | WAIT 0 0                                          | where replicas are to confirm   |
/// | 2      | SELECT database                                   | where it is not 0               |
/// |        | CLIENT KILL ID the last connection's              | what was sent on it and never   |
/// |        |                                                   | answered does not run later     |
/// |        | HDEL of nothing                                   | without it nothing can be given |
/// |        |                                                   | back                            |
/// |        | SUBSCRIBE channels, PING                          | where there are any, but for    |
/// |        |                                                   | sharded ones                    |
///
/// A server that was started anew gives old numbers to new clients: what it is told to kill then,
/// or where it does not say which run of it this is, is a number that no client has. The same asks,
/// at the start, whether CLIENT KILL is permitted.
class Handshake {
 public:
  struct Login {
    std::string user, password, client_name;
    int database = 0;
    /// A node of a cluster is wanted, whatever its role: it says who has which keys.
    bool cluster = false;
    std::string cluster_uri{};  ///< what it should have been where the server is such a node
    ShardedPubSub sharded = ShardedPubSub::AUTO;  ///< cluster
    bool replicas = false;                        ///< grants wait for replicas
  };
  enum class Step : std::uint8_t { goes_on, settled, failed };

  explicit Handshake(Login login) : login_(std::move(login)) {}

  /// A new connection begins.
  void begin(CommandBuffer& out);
  /// The server's next answer, pushes excepted. Throws std::bad_alloc.
  Step answered(const redisReply& reply, const Subscriptions& wanted, CommandBuffer& out);
  /// A push said that subscriptions are on.
  void confirmed() noexcept { ears_confirmed_ = true; }

  /// All channels that are wanted were asked for by one command, and it was refused.
  [[nodiscard]] bool ears_refused() const noexcept { return ears_refused_; }

  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
  [[nodiscard]] bool answered_anything() const noexcept { return answers_ > 0; }
  /// Empty before the first that settled.
  [[nodiscard]] std::optional<bool> may_kill() const noexcept { return may_kill_; }
  /// Wake-ups go by SPUBLISH.
  [[nodiscard]] bool sharded() const noexcept { return sharded_; }

  /// What speaks against this server, as a clause; empty: nothing. Said with its INFO.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

  /// The connection that had settled is gone: the next one ends it.
  void lost() noexcept { previous_ = current_; }
  /// In a forked child: the parent's connection is none of ours.
  void forget() noexcept { previous_ = current_ = {}; }

 private:
  enum class Question : std::uint8_t { hello, info, sharded, replicas, select, kill, remove, ears };
  struct Connection {
    std::int64_t number = 0;  ///< CLIENT ID; 0: none
    std::string run;          ///< of the server; empty: it does not say
  };

  void ask(Question question) noexcept { questions_[asked_++] = question; }
  Step fail(Failure failure);
  Step hello_answered(const redisReply& reply);
  Step second_flight(const Subscriptions& wanted, CommandBuffer& out);
  Step sharded_answered(bool error);
  Step kill_answered(const redisReply& reply);
  [[nodiscard]] std::int64_t number_to_kill() const noexcept;

  const Login login_;
  std::array<Question, 8> questions_{};
  std::size_t asked_ = 0, answers_ = 0, first_flight_ = 0;
  bool ears_confirmed_ = false, ears_refused_ = false, sharded_ = false;
  Connection current_, previous_;
  std::optional<bool> may_kill_;
  bool is_replica_ = false;
  std::string warning_;
  Failure failure_;
};

}  // namespace latchkey::detail::redis
