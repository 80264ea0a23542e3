// The one place where what goes wrong on the way to a server becomes a clause of ours.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <chrono>
#include <string>
#include <string_view>

namespace latchkey::detail::redis {

/// Why there is no connection. The text is a clause without a full stop; it tells neither user nor
/// password.
struct Failure {
  /// The server answered, and to ask again without a change somewhere leads to the same answer.
  bool refused = false;
  std::string text;
  bool nobody = false;  ///< nothing listens at the address, as the system knows at once

  /// To wait a moment for a connection is in vain.
  [[nodiscard]] bool is_certain() const noexcept { return refused || nobody; }
};

/// The text of an error reply without the name of the user, which NOPERM tells.
[[nodiscard]] std::string error_text(const redisReply& reply);

// --- on the way to the server ---
/// `doing` names what the system refused, as "connect".
[[nodiscard]] Failure system_failure(std::string_view doing, int error);
[[nodiscard]] Failure resolver_failure(std::string_view host, int code);
[[nodiscard]] Failure silence(std::chrono::milliseconds length);
/// It owes an answer for so long, and has said nothing else either.
[[nodiscard]] Failure dead(std::chrono::milliseconds length);
/// The server ended the connection; `greeted`: after it had answered.
[[nodiscard]] Failure closed_by_server(bool greeted);
/// `why` is what hiredis has against the bytes; `greeted`: after it had answered.
[[nodiscard]] Failure not_redis(std::string_view why, bool greeted);
[[nodiscard]] Failure certificate_refused(std::string_view name, std::string_view why);
[[nodiscard]] Failure no_tls(std::string_view why);
/// After the handshake.
[[nodiscard]] Failure tls_broken(std::string_view why);
[[nodiscard]] Failure no_memory();

// --- what it says to the first commands ---
[[nodiscard]] Failure hello_refused(const redisReply& reply, bool logs_in);
[[nodiscard]] Failure is_replica();
[[nodiscard]] Failure is_sentinel();
[[nodiscard]] Failure is_no_cluster();
/// `uri` is the one to write.
[[nodiscard]] Failure is_cluster(std::string_view uri);
/// It was asked for its slots.
[[nodiscard]] Failure no_slots(const redisReply& reply);
[[nodiscard]] Failure no_sharded_channels();
[[nodiscard]] Failure no_replicas_to_ask(const redisReply& reply);
[[nodiscard]] Failure sentinel_refused(const redisReply& reply, bool logs_in);
/// `reply` is a sentinel's, asked for this master.
[[nodiscard]] Failure master_refused(std::string_view master, const redisReply& reply);
[[nodiscard]] Failure database_refused(int database, const redisReply& reply);
/// It said at the start which run of the server it is, and no longer does.
[[nodiscard]] Failure no_run();
[[nodiscard]] Failure kill_refused(const redisReply& reply);
/// HDEL, by which every lock is given back, is forbidden.
[[nodiscard]] Failure release_refused(const redisReply& reply);

}  // namespace latchkey::detail::redis
