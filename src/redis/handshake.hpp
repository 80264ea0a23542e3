// The first words on a new connection.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "redis/command_buffer.hpp"
#include "redis/failure.hpp"
#include "redis/subscriptions.hpp"

namespace latchkey::detail::redis {

/// Says who we are, ends our connection before this one, and subscribes to what is wanted; no
/// request goes out before. Pure: replies in, commands out.
///
/// | flight | commands                                          | why                             |
/// |--------|---------------------------------------------------|---------------------------------|
/// | 1      | HELLO 3 [AUTH user password] SETNAME name         | RESP3, login                    |
/// |        | INFO                                              | which run of the server is this,|
/// |        |                                                   | and may it evict held locks     |
/// | 2      | SELECT database                                   | where it is not 0               |
/// |        | CLIENT KILL ID the last connection's              | what was sent on it and never   |
/// |        |                                                   | answered does not run later     |
/// |        | SUBSCRIBE channels, PING                          | where there are any             |
///
/// A server that was started anew gives old numbers to new clients: what it is told to kill then is
/// a number that no client has. The same asks, at the start, whether CLIENT KILL is permitted.
class Handshake {
 public:
  struct Login {
    std::string user, password, client_name;
    int database = 0;
  };
  enum class Step : std::uint8_t { goes_on, settled, failed };

  explicit Handshake(Login login) : login_(std::move(login)) {}

  /// A new connection begins.
  void begin(CommandBuffer& out);
  /// The server's next answer, pushes excepted. Throws std::bad_alloc.
  Step answered(const redisReply& reply, const Subscriptions& wanted, CommandBuffer& out);
  /// A push said that subscriptions are on.
  void confirmed() noexcept { ears_confirmed_ = true; }

  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
  [[nodiscard]] bool answered_anything() const noexcept { return answers_ > 0; }
  /// Empty before the first that settled.
  [[nodiscard]] std::optional<bool> may_kill() const noexcept { return may_kill_; }

  /// What speaks against this server, as a clause; empty: nothing. Said with its INFO.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

  /// The connection that had settled is gone: the next one ends it.
  void lost() noexcept { previous_ = current_; }
  /// In a forked child: the parent's connection is none of ours.
  void forget() noexcept { previous_ = current_ = {}; }

 private:
  enum class Question : std::uint8_t { hello, info, select, kill, ears };
  struct Connection {
    std::int64_t number = 0;  ///< CLIENT ID; 0: none
    std::string run;          ///< of the server; empty: it does not say
  };

  void ask(Question question) noexcept { questions_[asked_++] = question; }
  Step fail(Failure failure);
  Step hello_answered(const redisReply& reply);
  Step second_flight(const Subscriptions& wanted, CommandBuffer& out);
  Step kill_answered(const redisReply& reply);
  [[nodiscard]] std::int64_t number_to_kill() const noexcept;

  const Login login_;
  std::array<Question, 5> questions_{};
  std::size_t asked_ = 0, answers_ = 0;
  bool ears_confirmed_ = false, ears_refused_ = false;
  Connection current_, previous_;
  std::optional<bool> may_kill_;
  std::string warning_;
  Failure failure_;
};

}  // namespace latchkey::detail::redis
