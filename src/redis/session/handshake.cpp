// The first commands on a new connection.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/handshake.hpp"

#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "redis/protocol/reply.hpp"
#include "redis/protocol/script_call.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

/// The value of `key` in a map; null: there is none.
const redisReply* value_of_key(const redisReply& map, std::string_view key) noexcept {
  for (std::size_t index = 0; index + 1 < map.elements; index += 2) {
    if (text_of(*map.element[index]) == key) return map.element[index + 1];
  }
  return nullptr;
}

/// The value of the line "label:value" in an INFO; empty: there is no such line.
std::string_view value_of(std::string_view label, std::string_view info) noexcept {
  for (std::size_t at = 0; (at = info.find(label, at)) != std::string_view::npos; ++at) {
    const bool begins_line = at == 0 || info[at - 1] == '\n';
    const std::size_t colon = at + label.size();
    if (!begins_line || colon >= info.size() || info[colon] != ':') continue;
    info.remove_prefix(colon + 1);
    return info.substr(0, info.find_first_of("\r\n"));
  }
  return {};
}

/// Locks expire, so every policy that evicts keys evicts locks.
std::string eviction_warning(std::string_view info) {
  const std::string_view limit = value_of("maxmemory", info);
  const std::string_view policy = value_of("maxmemory_policy", info);
  if (limit.empty() || limit == "0" || policy.empty() || policy == "noeviction") return {};
  return "it may evict held locks when its memory is full: its maxmemory-policy is " +
         std::string(policy) + ", and noeviction would be right";
}

/// {7, 0, 15} of "7.0.15"; what the text does not say is 0.
ServerVersion version_of(std::string_view text) noexcept {
  ServerVersion version{};
  for (int& part : version) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (error != std::errc() || end == text.data() + text.size() || *end != '.') break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  return version;
}

constexpr ServerVersion sharded_channels_since{7, 0, 0};
/// Before, changes by scripts were notified to their own connection in spite of NOLOOP, so each
/// renewal would end the watch of its key (redis/redis#11052).
constexpr ServerVersion noloop_works_since{7, 0, 5};

/// Whether the user lacks the permission for the command.
bool is_forbidden(std::string_view command, std::string_view error) {
  const std::string quoted = "'" + std::string(command) + "'";
  return error.starts_with("NOPERM") && error.find(quoted) != std::string_view::npos;
}

}  // namespace

void append_hello(CommandBuffer& out, std::string_view user, std::string_view password,
                  std::string_view client_name) {
  const bool logs_in = !user.empty() || !password.empty();
  out.begin(logs_in ? 7 : 4);
  out.word("HELLO"), out.word("3");
  if (logs_in) {
    out.word("AUTH"), out.word(user.empty() ? "default" : user);
    out.word(password);
  }
  out.word("SETNAME"), out.word(client_name);
}

void Handshake::start(CommandBuffer& out) {
  expected_ = replies_ = 0;
  subscribe_ = Subscribe::unanswered;
  current_ = {};
  watch_refusal_.clear();
  append_hello(out, login_.user, login_.password, login_.client_name);
  out.command({"INFO"});
  expect(Command::hello);
  expect(Command::info);
  if (login_.cluster && login_.sharded != ShardedPubSub::off) {
    out.command({"PUBSUB", "SHARDNUMSUB"});
    expect(Command::sharded);
  }
  if (login_.replicas) {
    out.command({"WAIT", "0", "0"});
    expect(Command::replicas);
  }
  first_flight_ = expected_;
}

Handshake::Step Handshake::on_reply(const redisReply& reply, const ChannelSubscriptions& wanted,
                                    CommandBuffer& out) {
  if (replies_ == expected_) return fail(not_redis("an answer that nobody asked for", true));
  const bool error = reply.type == REDIS_REPLY_ERROR;
  const Command command = commands_[replies_];
  if (command == Command::channels && error && subscribe_ == Subscribe::unanswered) {
    // The session subscribes to each channel on its own later. The reply of PING is next.
    subscribe_ = Subscribe::rejected;
    return Step::in_progress;
  }
  ++replies_;
  // A server that is not ready has not said what it permits. `remove` only gives a better message.
  if (is_not_ready(reply) && command < Command::remove) {
    return fail(server_not_ready(reply));
  }
  switch (command) {
    case Command::hello:
      if (on_hello(reply) == Step::failed) return Step::failed;
      break;
    case Command::info:
      current_.run_id = error ? std::string_view() : value_of("run_id", text_of(reply));
      warning_ = error ? std::string() : eviction_warning(text_of(reply));
      break;
    case Command::sharded:
      if (on_sharded(reply) == Step::failed) return Step::failed;
      break;
    case Command::replicas:
      // A replica, which may be a node of a cluster, has no replicas itself.
      if (error && !is_replica_) return fail(no_replicas_to_ask(reply));
      break;
    case Command::select:
      if (error) return fail(database_refused(login_.database, reply));
      break;
    case Command::kill:
      if (on_kill(reply) == Step::failed) return Step::failed;
      break;
    case Command::remove:
      // A user that lacks the command is rejected. One that only lacks access to this key is not.
      if (error && is_forbidden(login_.layout->release_permission, text_of(reply))) {
        return fail(release_refused(login_.layout->release_permission, reply));
      }
      break;
    case Command::tracking:
    case Command::caching:
    case Command::reading: on_watch_reply(command, reply); break;
    case Command::channels: break;
  }
  if (replies_ == first_flight_) return send_second_flight(wanted, out);
  if (replies_ < expected_) return Step::in_progress;
  previous_ = {};
  return Step::settled;
}

bool Handshake::watches() const noexcept {
  const bool too_old = version_ != ServerVersion{} && version_ < noloop_works_since;
  return login_.watches && watch_refusal_.empty() && !too_old;
}

Handshake::Step Handshake::fail(Failure failure) {
  failure_ = std::move(failure);
  return Step::failed;
}

Handshake::Step Handshake::on_hello(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ERROR) {
    return fail(hello_refused(reply, !login_.user.empty() || !login_.password.empty()));
  }
  if (reply.type != REDIS_REPLY_MAP)
    return fail(not_redis("its reply to HELLO is not a map", false));
  const redisReply* const id = value_of_key(reply, "id");
  const redisReply* const role = value_of_key(reply, "role");
  if (id != nullptr && id->type == REDIS_REPLY_INTEGER) current_.client_id = id->integer;
  const redisReply* const version = value_of_key(reply, "version");
  version_ = version_of(version != nullptr ? text_of(*version) : std::string_view());
  const redisReply* const mode = value_of_key(reply, "mode");
  if (mode != nullptr && text_of(*mode) == "sentinel") return fail(is_sentinel());
  is_replica_ = role != nullptr && (text_of(*role) == "replica" || text_of(*role) == "slave");
  if (login_.cluster) {
    const bool standalone = mode != nullptr && text_of(*mode) == "standalone";
    return standalone ? fail(is_no_cluster()) : Step::in_progress;
  }
  if (mode != nullptr && text_of(*mode) == "cluster") return fail(is_cluster(login_.cluster_uri));
  return is_replica_ ? fail(is_replica()) : Step::in_progress;
}

// Like Redisson, latchkey uses SPUBLISH in every cluster that has it, unless the user says
// otherwise. That must not depend on a permission: clients of a lock that use different channels
// miss each other's notifications.
Handshake::Step Handshake::on_sharded(const redisReply& reply) {
  const bool error = reply.type == REDIS_REPLY_ERROR;
  const bool may_not_ask = error && text_of(reply).starts_with("NOPERM");
  sharded_ = may_not_ask ? version_ >= sharded_channels_since : !error;
  if (!sharded_ && login_.sharded == ShardedPubSub::on) return fail(no_sharded_channels());
  return Step::in_progress;
}

Handshake::Step Handshake::send_second_flight(const ChannelSubscriptions& wanted,
                                              CommandBuffer& out) {
  if (login_.database != 0) {
    out.begin(2), out.word("SELECT"), out.number(login_.database);
    expect(Command::select);
  }
  out.begin(4), out.word("CLIENT"), out.word("KILL"), out.word("ID");
  out.number(client_to_kill());
  expect(Command::kill);
  if (!may_kill_) {  // the first connection
    out.begin(login_.layout->release_probe.size());
    for (const std::string_view word : login_.layout->release_probe) out.word(word);
    expect(Command::remove);
  }
  if (watches()) {
    out.command({"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    out.command({"CLIENT", "CACHING", "YES"});
    out.command({"EXISTS", probe_key});
    for (const Command each : {Command::tracking, Command::caching, Command::reading}) expect(each);
  }
  if (!sharded_ && wanted.append_all(out)) expect(Command::channels);
  return Step::in_progress;
}

std::int64_t Handshake::client_to_kill() const noexcept {
  // In another run of the server the id may belong to another client.
  const bool same_run = !current_.run_id.empty() && previous_.run_id == current_.run_id;
  if (previous_.client_id > 0 && same_run) return previous_.client_id;
  return std::numeric_limits<std::int64_t>::max();
}

Handshake::Step Handshake::on_kill(const redisReply& reply) {
  const bool permitted =
      reply.type != REDIS_REPLY_ERROR || text_of(reply).starts_with("ERR No such client");
  // Coordinators were promised that order is kept, so they do not repeat what may have been lost.
  if (!permitted && may_kill_.value_or(false)) return fail(kill_refused(reply));
  if (current_.run_id.empty() && may_kill_.value_or(false)) return fail(no_run());
  if (!may_kill_) may_kill_ = permitted && !current_.run_id.empty();
  return Step::in_progress;
}

// If CLIENT TRACKING fails, so does CLIENT CACHING: the first error counts. EXISTS may also fail
// because another node has the key, or because the user may not access this one.
void Handshake::on_watch_reply(Command command, const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ERROR || !watch_refusal_.empty()) return;
  if (command == Command::reading && !is_forbidden("exists", text_of(reply))) return;
  watch_refusal_ = server_words(text_of(reply));
}

std::string Handshake::warning() const {
  if (watch_refusal_.empty()) return warning_;
  const std::string separator = warning_.empty() ? "" : "; ";
  return warning_ + separator +
         "losses are noticed at the next check, at most a third of the lease later, because it "
         "refuses to watch keys (" +
         watch_refusal_ +
         "): permit CLIENT TRACKING, CLIENT CACHING and EXISTS, or set Options::watch_holds to "
         "false";
}

}  // namespace latchkey::inline v1::detail::redis
