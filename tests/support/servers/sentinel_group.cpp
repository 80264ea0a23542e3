// Sentinels and the servers that they monitor.
#include "support/servers/sentinel_group.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "support/servers/replication.hpp"

namespace latchkey::tests {
namespace {

using Fields = std::map<std::string, std::string>;

/// The fields of a reply in which names and values alternate.
Fields fields_of(const redisReply& reply) {
  Fields fields;
  for (std::size_t at = 0; at + 1 < reply.elements; at += 2) {
    const redisReply& name = *reply.element[at];
    const redisReply& value = *reply.element[at + 1];
    fields.emplace(std::string(name.str, name.len), std::string(value.str, value.len));
  }
  return fields;
}

Reply checked(Reply reply) {
  if (reply.is_error()) throw std::runtime_error(reply.text());
  return reply;
}

std::uint16_t port_of(const std::string& text) {
  return static_cast<std::uint16_t>(std::stoul(text));
}

constexpr std::chrono::milliseconds usual_publish_period{700};

}  // namespace

SentinelGroup::SentinelGroup(SentinelGroupOptions options)
    : options_(std::move(options)),
      servers_({.replicas = options_.replicas,
                .password = options_.password,
                .config = options_.config}) {
  start_sentinels();
  wait_until_ready();
  for (const auto& each : sentinels_) shorten_periods(*each, usual_publish_period);
}

void SentinelGroup::start_sentinels() {
  const std::string& name = options_.name;
  std::vector<std::string> config{
      "sentinel monitor " + name + " 127.0.0.1 " + std::to_string(server(0).port()) + ' ' +
          std::to_string(options_.quorum),
      "sentinel down-after-milliseconds " + name + ' ' +
          std::to_string(options_.down_after.count()),
      "sentinel failover-timeout " + name + ' ' + std::to_string(options_.failover_timeout.count()),
      "sentinel parallel-syncs " + name + ' ' + std::to_string(options_.replicas)};
  if (!options_.password.empty()) {
    config.push_back("sentinel auth-pass " + name + ' ' + options_.password);
  }
  if (!options_.sentinel_password.empty()) {
    config.push_back("sentinel sentinel-pass " + options_.sentinel_password);
  }
  const RedisServerOptions sentinel{
      .config = config, .password = options_.sentinel_password, .arguments = {"--sentinel"}};
  while (sentinels_.size() < options_.sentinels) {
    sentinels_.push_back(std::make_unique<RedisServer>(sentinel));
    shorten_periods(*sentinels_.back(), std::chrono::milliseconds(200));
  }
}

// Shortens the periods of a sentinel, which forgets them when it ends. `publish_period` is the
// period in which sentinels publish their view of the master. A sentinel demotes a master of whose
// election it has not heard after four of these periods, so four must last longer than a failover,
// which checks replicas once per second. A sentinel that was stopped for 2 s enters TILT mode, in
// which it would do nothing for 30 s.
void SentinelGroup::shorten_periods(RedisServer& sentinel,
                                    std::chrono::milliseconds publish_period) {
  checked(sentinel.client()({"SENTINEL", "DEBUG", "PING-PERIOD", "300", "INFO-PERIOD", "300",
                             "ASK-PERIOD", "200", "TILT-PERIOD", "500", "MIN-LINK-RECONNECT-PERIOD",
                             "1000", "PUBLISH-PERIOD", std::to_string(publish_period.count())}));
}

std::string SentinelGroup::uri() const {
  std::string uri = "redis+sentinel://";
  if (!options_.password.empty()) uri += ':' + options_.password + '@';
  for (const auto& each : sentinels_) {
    if (each != sentinels_.front()) uri += ',';
    uri += "127.0.0.1:" + std::to_string(each->port());
  }
  uri += '/' + options_.name;
  if (!options_.sentinel_password.empty()) {
    uri += "?sentinel_password=" + options_.sentinel_password;
  }
  return uri;
}

std::size_t SentinelGroup::index_at(std::uint16_t port) {
  for (std::size_t index = 0; index < size(); ++index) {
    if (server(index).port() == port) return index;
  }
  throw std::runtime_error("no server of this group is at port " + std::to_string(port));
}

std::uint16_t SentinelGroup::master_port_of(RedisServer& sentinel) {
  const Reply reply =
      checked(sentinel.client()({"SENTINEL", "get-master-addr-by-name", options_.name}));
  return reply.is_nil() ? std::uint16_t{0} : port_of(reply.list().at(1));
}

std::uint16_t SentinelGroup::master_port() {
  std::map<std::uint16_t, std::size_t> votes;
  for (const auto& each : sentinels_) {
    if (!each->serves()) continue;
    const std::uint16_t port = master_port_of(*each);
    if (++votes[port] > sentinels_.size() / 2) return port;
  }
  return 0;
}

Election SentinelGroup::wait_for_election(std::uint16_t before) {
  return await_election(before, [] {});
}

Election SentinelGroup::await_election(std::uint16_t before, const std::function<void()>& retry) {
  Election election{};
  std::uint16_t elected = before;
  await("the election of another master", [&]() -> std::string {
    std::set<std::uint16_t> named;
    for (const auto& each : sentinels_) {
      if (!each->serves()) continue;
      const std::uint16_t port = master_port_of(*each);
      named.insert(port);
      if (port == before || port == elected) continue;
      election = {.index = index_at(port), .seen = std::chrono::steady_clock::now()};
      elected = port;
    }
    if (elected == before) retry();
    if (named.size() != 1 || named.contains(before)) return "not all sentinels name another one";
    return is_master(server(election.index)) ? "" : "the new one does not know yet";
  });
  return election;
}

Election SentinelGroup::fail_over() {
  wait_until_ready();
  const auto serves = [](const auto& sentinel) { return sentinel->serves(); };
  RedisServer& sentinel = **std::ranges::find_if(sentinels_, serves);
  std::chrono::steady_clock::time_point next{};
  // The sentinel refuses while it has no recent data of the replicas or another failover is in
  // progress, and it may abandon a failover.
  return await_election(master().port(), [&] {
    const auto now = std::chrono::steady_clock::now();
    if (now < next) return;
    const Reply reply = sentinel.client()({"SENTINEL", "FAILOVER", options_.name});
    if (!reply.is_error()) next = now + 2 * options_.failover_timeout;
  });
}

Election SentinelGroup::kill_master() {
  wait_until_ready();
  RedisServer& dying = master();
  dying.kill();
  return wait_for_election(dying.port());
}

void SentinelGroup::restore() {
  for (std::size_t index = 0; index < size(); ++index) server(index).serve_again();
  for (const auto& each : sentinels_) {
    each->serve_again();
    shorten_periods(*each, usual_publish_period);
  }
  wait_until_ready();
}

void SentinelGroup::wait_until_ready() {
  await("sentinels that know all", [&]() -> std::string {
    const std::uint16_t port = master_port();
    if (port == 0) return "the sentinels do not agree on a master";
    std::string missing = for_each_sentinel([&](auto& each) { return unknown_to(each, port); });
    if (!missing.empty()) return missing;
    demote_all_but(port);
    missing = for_each_sentinel([&](auto& each) { return unknown_server_to(each, port); });
    for (std::size_t index = 0; index < size() && missing.empty(); ++index) {
      const RedisServer& each = server(index);
      if (each.port() != port && each.serves()) missing = lag(each, server_at(port));
    }
    return missing;
  });
}

std::string SentinelGroup::for_each_sentinel(
    const std::function<std::string(RedisServer&)>& missing_in) {
  for (const auto& each : sentinels_) {
    if (!each->serves()) continue;
    if (std::string missing = missing_in(*each); !missing.empty()) return missing;
  }
  return {};
}

// Makes former masters replicas at once. The sentinels would do so some seconds later.
void SentinelGroup::demote_all_but(std::uint16_t master) {
  for (std::size_t index = 0; index < size(); ++index) {
    const RedisServer& each = server(index);
    if (each.port() == master || !each.serves() || !is_master(each)) continue;
    replicate(each, server_at(master));
  }
}

std::string SentinelGroup::unknown_to(RedisServer& sentinel, std::uint16_t master) {
  const Reply reply = checked(sentinel.client()({"SENTINEL", "MASTER", options_.name}));
  Fields said = fields_of(reply.raw());
  if (said["port"] != std::to_string(master)) return "a sentinel has another master";
  if (said["flags"] != "master") return "to a sentinel, the master is " + said["flags"];
  if (said["num-other-sentinels"] != std::to_string(sentinels_.size() - 1)) {
    return "a sentinel knows " + said["num-other-sentinels"] + " others";
  }
  if (said["num-slaves"] != std::to_string(size() - 1)) {
    return "a sentinel knows " + said["num-slaves"] + " replicas";
  }
  return {};
}

std::string SentinelGroup::unknown_server_to(RedisServer& sentinel, std::uint16_t master) {
  const Reply reply = checked(sentinel.client()({"SENTINEL", "REPLICAS", options_.name}));
  for (std::size_t at = 0; at < reply.raw().elements; ++at) {
    Fields said = fields_of(*reply.raw().element[at]);
    if (!server_at(port_of(said["port"])).serves()) continue;
    const std::string replica = "to a sentinel, the replica " + said["port"];
    if (said["flags"] != "slave") return replica + " is " + said["flags"];
    if (said["master-port"] != std::to_string(master)) return replica + " has another master";
    if (said["master-link-status"] != "ok") return replica + " has no link";
  }
  return {};
}

}  // namespace latchkey::tests
