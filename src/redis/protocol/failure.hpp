// The failures of Redis: the one place where errors of the system and of servers become text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "backend/connection/failure.hpp"

namespace latchkey::inline v1::detail::redis {

using Failure = ConnectionFailure;

/// The text of an error reply without the name of the user, which NOPERM contains.
[[nodiscard]] std::string error_text(const redisReply& reply);

// --- connecting, reading and writing ---
/// `doing` names the call that failed, such as "connect".
[[nodiscard]] Failure system_failure(std::string_view doing, int error);
[[nodiscard]] Failure resolver_failure(std::string_view host, int code);
[[nodiscard]] Failure silence(std::chrono::milliseconds length);
/// The server owes a reply and has sent nothing for so long.
[[nodiscard]] Failure dead(std::chrono::milliseconds length);
/// The server closed the connection; `greeted`: after it had replied.
[[nodiscard]] Failure closed_by_server(bool greeted);
/// `why` is the error of hiredis; `greeted`: after the server had replied.
[[nodiscard]] Failure not_redis(std::string_view why, bool greeted);
[[nodiscard]] Failure certificate_refused(std::string_view name, std::string_view why);
/// `worked`: TLS with this deployment has worked before, so the scheme is right.
[[nodiscard]] Failure no_tls(std::string_view why, bool worked);
/// The server has sent an alert, so it speaks TLS.
[[nodiscard]] Failure tls_refused(std::string_view why);
/// The connection broke after its TLS handshake.
[[nodiscard]] Failure tls_broken(std::string_view why);

// --- replies to the handshake ---
/// Whether an error says that the server runs a script, loads its data or has lost its master: a
/// server with a script that runs for long still replies to HELLO.
[[nodiscard]] bool is_not_ready(const redisReply& reply) noexcept;
[[nodiscard]] Failure server_not_ready(const redisReply& reply);
[[nodiscard]] Failure hello_refused(const redisReply& reply, bool logs_in);
[[nodiscard]] Failure is_replica();
[[nodiscard]] Failure is_sentinel();
[[nodiscard]] Failure is_no_cluster();
/// `uri` is the URI to use instead.
[[nodiscard]] Failure is_cluster(std::string_view uri);
/// The reply to CLUSTER SLOTS.
[[nodiscard]] Failure no_slots(const redisReply& reply);
[[nodiscard]] Failure no_sharded_channels();
[[nodiscard]] Failure no_replicas_to_ask(const redisReply& reply);
[[nodiscard]] Failure sentinel_refused(const redisReply& reply, bool logs_in);
/// `reply` is that of a sentinel to a query for this master.
[[nodiscard]] Failure master_refused(std::string_view master, const redisReply& reply);
[[nodiscard]] Failure database_refused(int database, const redisReply& reply);
/// INFO contained a run_id at the first connection, and does not any more.
[[nodiscard]] Failure no_run();
[[nodiscard]] Failure kill_refused(const redisReply& reply);
/// The command that every release needs, HDEL or DEL, is forbidden; `permission` is its name.
[[nodiscard]] Failure release_refused(std::string_view permission, const redisReply& reply);

/// The result of one attempt to read, write or connect.
struct Io {
  enum class Kind : std::uint8_t {
    moved,    ///< `count` bytes
    blocked,  ///< nothing now: poll for the events that the transport wants
    ended,    ///< the peer has closed the connection
    broken,   ///< see `failure`
  };

  static Io moved(std::size_t count) noexcept { return {Kind::moved, count, {}}; }
  static Io blocked() noexcept { return {Kind::blocked, 0, {}}; }
  static Io ended() noexcept { return {Kind::ended, 0, {}}; }
  static Io broken(Failure why) noexcept { return {Kind::broken, 0, std::move(why)}; }

  Kind kind;
  std::size_t count;
  Failure failure;
};

}  // namespace latchkey::inline v1::detail::redis
