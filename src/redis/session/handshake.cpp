// The first words on a new connection.
#include "redis/session/handshake.hpp"

#include <limits>
#include <string_view>
#include <utility>

#include "redis/protocol/reply.hpp"

namespace latchkey::detail::redis {
namespace {

/// The value beside `key` in a map; null: it has none.
const redisReply* find(const redisReply& map, std::string_view key) noexcept {
  for (std::size_t index = 0; index + 1 < map.elements; index += 2) {
    if (text_of(*map.element[index]) == key) return map.element[index + 1];
  }
  return nullptr;
}

/// No lock, and nothing else of ours either.
constexpr std::string_view probe_key = "latchkey_probe";

/// What the line "label:…" of an INFO says; empty: there is none.
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

/// Locks have a lease, so every policy that takes keys takes locks.
std::string eviction_warning(std::string_view info) {
  const std::string_view limit = value_of("maxmemory", info);
  const std::string_view policy = value_of("maxmemory_policy", info);
  if (limit.empty() || limit == "0" || policy.empty() || policy == "noeviction") return {};
  return "it may evict held locks when its memory is full: its maxmemory-policy is " +
         std::string(policy) + ", and noeviction would be right";
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

void Handshake::begin(CommandBuffer& out) {
  asked_ = answers_ = 0;
  ears_confirmed_ = ears_refused_ = false;
  current_ = {};
  append_hello(out, login_.user, login_.password, login_.client_name);
  out.command({"INFO"});
  ask(Question::hello);
  ask(Question::info);
  if (login_.cluster && login_.sharded != ShardedPubSub::OFF) {
    out.command({"PUBSUB", "SHARDNUMSUB"});
    ask(Question::sharded);
  }
  if (login_.replicas) {
    out.command({"WAIT", "0", "0"});
    ask(Question::replicas);
  }
  first_flight_ = asked_;
}

Handshake::Step Handshake::answered(const redisReply& reply, const Subscriptions& wanted,
                                    CommandBuffer& out) {
  if (answers_ == asked_) return fail(not_redis("an answer that nobody asked for", true));
  const bool error = reply.type == REDIS_REPLY_ERROR;
  const Question question = questions_[answers_];
  if (question == Question::ears && error && !ears_confirmed_ && !ears_refused_) {
    // SUBSCRIBE was refused: the link asks for each channel alone. PING is next.
    ears_refused_ = true;
    return Step::goes_on;
  }
  ++answers_;
  switch (question) {
    case Question::hello:
      if (hello_answered(reply) == Step::failed) return Step::failed;
      break;
    case Question::info:
      current_.run = error ? std::string_view() : value_of("run_id", text_of(reply));
      warning_ = error ? std::string() : eviction_warning(text_of(reply));
      break;
    case Question::sharded:
      if (sharded_answered(error) == Step::failed) return Step::failed;
      break;
    case Question::replicas:
      // A replica, which a cluster may have among its nodes, has no replicas to ask.
      if (error && !is_replica_) return fail(no_replicas_to_ask(reply));
      break;
    case Question::select:
      if (error) return fail(database_refused(login_.database, reply));
      break;
    case Question::kill:
      if (kill_answered(reply) == Step::failed) return Step::failed;
      break;
    case Question::remove:
      // Permission is looked at before all else. What a user may not do with this key says nothing.
      if (error && text_of(reply).starts_with("NOPERM") &&
          text_of(reply).find("'hdel'") != std::string_view::npos) {
        return fail(release_refused(reply));
      }
      break;
    case Question::ears: break;
  }
  if (answers_ == first_flight_) return second_flight(wanted, out);
  if (answers_ < asked_) return Step::goes_on;
  previous_ = {};
  return Step::settled;
}

Handshake::Step Handshake::fail(Failure failure) {
  failure_ = std::move(failure);
  return Step::failed;
}

Handshake::Step Handshake::hello_answered(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ERROR) {
    return fail(hello_refused(reply, !login_.user.empty() || !login_.password.empty()));
  }
  if (reply.type != REDIS_REPLY_MAP) return fail(not_redis("its HELLO is no map", false));
  const redisReply* const number = find(reply, "id");
  const redisReply* const role = find(reply, "role");
  if (number != nullptr && number->type == REDIS_REPLY_INTEGER) current_.number = number->integer;
  const redisReply* const mode = find(reply, "mode");
  if (mode != nullptr && text_of(*mode) == "sentinel") return fail(is_sentinel());
  is_replica_ = role != nullptr && (text_of(*role) == "replica" || text_of(*role) == "slave");
  if (login_.cluster) {
    const bool alone = mode != nullptr && text_of(*mode) == "standalone";
    return alone ? fail(is_no_cluster()) : Step::goes_on;
  }
  if (mode != nullptr && text_of(*mode) == "cluster") return fail(is_cluster(login_.cluster_uri));
  return is_replica_ ? fail(is_replica()) : Step::goes_on;
}

// As Redisson: in a cluster whose servers have it, unless the user says otherwise.
Handshake::Step Handshake::sharded_answered(bool error) {
  if (error && login_.sharded == ShardedPubSub::ON) return fail(no_sharded_channels());
  sharded_ = !error;
  return Step::goes_on;
}

Handshake::Step Handshake::second_flight(const Subscriptions& wanted, CommandBuffer& out) {
  if (login_.database != 0) {
    out.begin(2), out.word("SELECT"), out.number(login_.database);
    ask(Question::select);
  }
  out.begin(4), out.word("CLIENT"), out.word("KILL"), out.word("ID");
  out.number(number_to_kill());
  ask(Question::kill);
  if (!may_kill_) {  // the first connection
    out.command({"HDEL", probe_key, ""});
    ask(Question::remove);
  }
  if (!sharded_ && wanted.append_all(out)) ask(Question::ears);
  return Step::goes_on;
}

std::int64_t Handshake::number_to_kill() const noexcept {
  // Where the server does not say which run of it this is, the number may be a stranger's by now.
  const bool same_run = !current_.run.empty() && previous_.run == current_.run;
  if (previous_.number > 0 && same_run) return previous_.number;
  return std::numeric_limits<std::int64_t>::max();
}

Handshake::Step Handshake::kill_answered(const redisReply& reply) {
  const bool permitted =
      reply.type != REDIS_REPLY_ERROR || text_of(reply).starts_with("ERR No such client");
  // Order was promised to the coordinators, who would no longer repeat what may have been lost.
  if (!permitted && may_kill_.value_or(false)) return fail(kill_refused(reply));
  if (current_.run.empty() && may_kill_.value_or(false)) return fail(no_run());
  if (!may_kill_) may_kill_ = permitted && !current_.run.empty();
  return Step::goes_on;
}

}  // namespace latchkey::detail::redis
