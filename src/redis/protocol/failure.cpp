// Why a server cannot be used: the one place where errors of the system and of servers become text.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/failure.hpp"

#include <netdb.h>

#include <cerrno>
#include <system_error>

namespace latchkey::inline v1::detail::redis {
namespace {

Failure permanent(std::string text) { return {true, std::move(text), false}; }
Failure transient(std::string text) { return {false, std::move(text), false}; }

}  // namespace

std::string error_text(const redisReply& reply) {
  std::string text(reply.str != nullptr ? std::string_view(reply.str, reply.len) : "");
  // Redis 7: "NOPERM User alice has no permissions to run the 'client|kill' command".
  constexpr std::string_view before = "NOPERM User ", after = " has no permissions";
  if (text.starts_with(before)) {
    const std::size_t end = text.rfind(after);
    if (end != std::string::npos && end >= before.size()) {
      text.replace(0, end, "NOPERM this user");
    }
  }
  return text;
}

Failure system_failure(std::string_view doing, int error) {
  Failure failure = transient(std::string(doing) + ": " + std::generic_category().message(error));
  // connect(2) reports a missing Unix socket as ENOENT.
  failure.nothing_listens = doing == "connect" && (error == ECONNREFUSED || error == ENOENT);
  return failure;
}

Failure resolver_failure(std::string_view host, int code) {
  const std::string why =
      code == EAI_SYSTEM ? std::generic_category().message(errno) : std::string(gai_strerror(code));
  return transient("the host '" + std::string(host) + "' has no address: " + why);
}

Failure silence(std::chrono::milliseconds length) {
  return transient("no answer within " + std::to_string(length.count()) + " ms");
}

Failure dead(std::chrono::milliseconds length) {
  return transient("the server has said nothing for " + std::to_string(length.count()) + " ms");
}

Failure closed_by_server(bool greeted) {
  if (greeted) return transient("the server closed the connection");
  return transient(
      "the server closed the connection before it had said anything: is it Redis, and is the "
      "scheme right (redis: without TLS, rediss: with it)?");
}

Failure not_redis(std::string_view why, bool greeted) {
  const std::string text = " (" + std::string(why) + ")";
  if (greeted) return transient("the connection carried bytes that are not RESP3" + text);
  return permanent("the server at this address does not speak the Redis protocol" + text +
                   "; check host, port and TLS");
}

Failure certificate_refused(std::string_view name, std::string_view why) {
  return permanent("the certificate of the server '" + std::string(name) +
                   "' is not to be trusted: " + std::string(why));
}

Failure no_tls(std::string_view why, bool worked) {
  return transient("no TLS with this server: " + std::string(why) +
                   (worked ? "" : " (is it a TLS port? redis: is without, rediss: with TLS)"));
}

Failure tls_refused(std::string_view why) {
  return transient("the server refuses the TLS handshake: " + std::string(why));
}

Failure tls_broken(std::string_view why) {
  return transient("the TLS connection broke: " + std::string(why));
}

bool is_not_ready(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_ERROR || reply.str == nullptr) return false;
  const std::string_view text(reply.str, reply.len);
  return text.starts_with("BUSY") || text.starts_with("LOADING") || text.starts_with("MASTERDOWN");
}

Failure server_not_ready(const redisReply& reply) {
  return transient("the server is not ready: " + error_text(reply));
}

Failure hello_refused(const redisReply& reply, bool logs_in) {
  const std::string text = error_text(reply);
  if (text.starts_with("NOAUTH")) {
    return permanent(logs_in ? "the server asks for a password although the URI has one: " + text
                             : "the server asks for a password, and the URI has none");
  }
  if (text.starts_with("WRONGPASS")) return permanent("user or password is wrong: " + text);
  if (text.starts_with("NOPROTO") || text.starts_with("ERR unknown command") ||
      text.starts_with("ERR Unknown command")) {
    return permanent("the server does not support RESP3; expected Redis >= 6 or Valkey: " + text);
  }
  if (is_not_ready(reply)) return server_not_ready(reply);
  if (text.starts_with("ERR max number of clients")) {
    return transient("the server takes no more clients: " + text);
  }
  return permanent("the server refused HELLO: " + text);
}

Failure is_replica() {
  return transient("the server is a replica, which grants no locks: its master does");
}

Failure is_sentinel() {
  return permanent(
      "it is a sentinel, which grants no locks: redis+sentinel://host:port/master asks it for the "
      "master");
}

Failure is_no_cluster() {
  return permanent(
      "the server is not a node of a cluster; use redis:// instead of redis+cluster://");
}

Failure is_cluster(std::string_view uri) {
  if (uri.empty()) {
    return permanent("the server is a node of a cluster, and redis+set:// is for one server only");
  }
  return permanent("the server is a node of a cluster, which is another URI: " + std::string(uri));
}

Failure no_slots(const redisReply& reply) {
  const std::string text = error_text(reply);
  if (text.starts_with("NOPERM")) return permanent("the server refused CLUSTER SLOTS: " + text);
  return transient("the server does not say which node has which keys: " + text);
}

Failure no_sharded_channels() {
  return permanent(
      "the server has no SPUBLISH (Redis >= 7 and Valkey have it), and sharded_pubsub=on needs it; "
      "expected sharded_pubsub=auto, which does without");
}

Failure no_replicas_to_ask(const redisReply& reply) {
  return permanent("the server refused WAIT, which the option min_replicas needs: " +
                   error_text(reply));
}

Failure sentinel_refused(const redisReply& reply, bool logs_in) {
  Failure failure = hello_refused(reply, logs_in);
  if (failure.permanent) {
    failure.text += " (a sentinel's are the options sentinel_user and sentinel_password)";
  }
  return failure;
}

Failure master_refused(std::string_view master, const redisReply& reply) {
  const std::string text = reply.type == REDIS_REPLY_ERROR ? error_text(reply) : "no address";
  if (text.starts_with("ERR No such master")) {
    return permanent("it monitors no master named '" + std::string(master) + "'");
  }
  return permanent("it returned no address for the master '" + std::string(master) + "': " + text);
}

Failure database_refused(int database, const redisReply& reply) {
  return permanent("the server refused database " + std::to_string(database) + ": " +
                   error_text(reply));
}

Failure release_refused(std::string_view permission, const redisReply& reply) {
  return permanent("the user of this connection lacks a permission, +" + std::string(permission) +
                   ", without which no lock can be given back: " + error_text(reply));
}

Failure no_run() {
  return permanent(
      "INFO no longer returns the server's run_id, as it did at the start, so CLIENT KILL could "
      "end another client's connection; allow +info for this user");
}

Failure kill_refused(const redisReply& reply) {
  return permanent("the server no longer permits CLIENT KILL, as it did at the start: " +
                   error_text(reply));
}

}  // namespace latchkey::inline v1::detail::redis
