// Redis URIs, parsed and described.
// SPDX-License-Identifier: BSL-1.0
#include "redis/uri/redis_uri.hpp"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>

#include "backend/uri/uri_options.hpp"
#include "core/text/number.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using Deployment = RedisUri::Deployment;
using Endpoint = RedisUri::Endpoint;

struct Scheme {
  std::string_view prefix, example;
  RedisUri::Transport transport;
  Deployment deployment;
  std::string_view with_tls{};  ///< for Transport::tcp and unix_socket: the scheme that has TLS
  RedisUri::Locks locks = RedisUri::Locks::redisson;
};

constexpr std::array schemes{
    Scheme{"redis://", "redis://127.0.0.1:6379", RedisUri::Transport::tcp, Deployment::server,
           "rediss://"},
    Scheme{"rediss://", "rediss://127.0.0.1:6379", RedisUri::Transport::tls, Deployment::server},
    Scheme{"redis+unix://", "redis+unix:///run/redis.sock", RedisUri::Transport::unix_socket,
           Deployment::server, "rediss://"},
    Scheme{"redis+sentinel://", "redis+sentinel://h1,h2,h3/master", RedisUri::Transport::tcp,
           Deployment::sentinel, "rediss+sentinel://"},
    Scheme{"rediss+sentinel://", "rediss+sentinel://h1,h2,h3/master", RedisUri::Transport::tls,
           Deployment::sentinel},
    Scheme{"redis+cluster://", "redis+cluster://h1,h2,h3", RedisUri::Transport::tcp,
           Deployment::cluster, "rediss+cluster://"},
    Scheme{"rediss+cluster://", "rediss+cluster://h1,h2,h3", RedisUri::Transport::tls,
           Deployment::cluster},
    Scheme{"redis+set://", "redis+set://127.0.0.1:6379", RedisUri::Transport::tcp,
           Deployment::server, "rediss+set://", RedisUri::Locks::set},
    Scheme{"rediss+set://",
           "rediss+set://127.0.0.1:6379",
           RedisUri::Transport::tls,
           Deployment::server,
           {},
           RedisUri::Locks::set},
};
constexpr std::uint16_t server_port = 6379, sentinel_port = 26'379;

constexpr int most_database = 1'000'000, most_replicas = 100;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

int parse_database(std::string_view text, std::string_view scheme) {
  int number = -1;
  if (!read_number(text, number) || number < 0 || number > most_database) {
    refuse("invalid database " + in_quotes(text) + " in the " + std::string(scheme) +
           " URI; expected a number such as 0");
  }
  return number;
}

void parse_hosts(std::string_view text, const UriSyntax& syntax, RedisUri& uri) {
  if (uri.deployment != Deployment::server) {
    uri.endpoints = syntax.endpoints(
        text, uri.deployment == Deployment::sentinel ? sentinel_port : server_port);
    return;
  }
  if (text.find(',') != std::string_view::npos) {
    refuse(
        "a redis:// URI names one server; for several use redis+sentinel://h1,h2,h3/master, "
        "redis+cluster://h1,h2,h3 or \"quorum: redis://h1 redis://h2 redis://h3\"");
  }
  uri.endpoint = syntax.endpoint(text, server_port);
}

/// `path` is the text between hosts and options, with its '/'.
void parse_path(std::string_view path, std::string_view scheme, const UriSyntax& syntax,
                RedisUri& uri) {
  path.remove_prefix(std::min<std::size_t>(path.size(), 1));
  if (uri.deployment == Deployment::sentinel) {
    const std::size_t slash = path.find('/');
    uri.master = syntax.decoded(path.substr(0, slash), "master's name");
    if (uri.master.empty()) {
      refuse("missing name of the master in the " + std::string(scheme) +
             " URI; expected redis+sentinel://h1,h2,h3/master");
    }
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  if (!path.empty()) uri.database = parse_database(path, scheme);
  if (uri.deployment == Deployment::cluster && uri.database != 0) {
    refuse("invalid database " + in_quotes(path) + " in the " + std::string(scheme) +
           " URI; a cluster has database 0 only");
  }
}

void parse_socket(std::string_view hosts, std::string_view path, const UriSyntax& syntax,
                  RedisUri& uri) {
  if (!hosts.empty() || path.size() < 2) {
    refuse("missing path in the redis+unix:// URI; expected redis+unix:///run/redis.sock");
  }
  uri.path = syntax.decoded(path, "path");
  constexpr std::size_t most = sizeof(sockaddr_un::sun_path) - 1;
  if (uri.path.size() > most) {
    refuse("the path of a Unix socket has at most " + std::to_string(most) + " bytes, this one " +
           std::to_string(uri.path.size()));
  }
}

void store_client_name(RedisUri& uri, const UriValue& value) {
  // CLIENT SETNAME takes printable characters without spaces.
  const bool printable =
      std::ranges::all_of(value.text(), [](char each) { return each >= '!' && each <= '~'; });
  if (!printable) value.refuse("printable text without spaces");
  uri.client_name = value.text();
}

std::string missing_sentinels(const RedisUri& uri) {
  return uri.deployment == Deployment::sentinel ? "" : "redis+sentinel://";
}

using RedisOption = KnownOption<RedisUri>;
constexpr std::array uri_options{
    RedisOption{"client_name", &store_client_name},
    RedisOption{"min_replicas",
                [](RedisUri& uri, const UriValue& value) {
                  uri.min_replicas = value.number(0, most_replicas);
                }},
    RedisOption{"sharded_pubsub",
                [](RedisUri& uri, const UriValue& value) {
                  uri.sharded_pubsub =
                      value.one_of<ShardedPubSub>({{"on", ShardedPubSub::on},
                                                   {"off", ShardedPubSub::off},
                                                   {"auto", ShardedPubSub::automatic}});
                },
                [](const RedisUri& uri) -> std::string {
                  return uri.deployment == Deployment::cluster ? "" : "redis+cluster://";
                }},
    tls_ca<RedisUri>,
    tls_cert<RedisUri>,
    tls_key<RedisUri>,
    tls_server_name<RedisUri>,
    RedisOption{"sentinel_user", &store_value<&RedisUri::sentinel_user>, &missing_sentinels},
    RedisOption{"sentinel_password", &store_value<&RedisUri::sentinel_password>,
                &missing_sentinels},
    RedisOption{"format",
                [](RedisUri& uri, const UriValue& value) {
                  uri.owners = value.one_of<OwnerFormat>({{"hold_id", OwnerFormat::hold_id},
                                                          {"redlock", OwnerFormat::redlock},
                                                          {"redsync", OwnerFormat::redsync}});
                },
                [](const RedisUri& uri) -> std::string {
                  return uri.locks == RedisUri::Locks::set ? "" : "redis+set://";
                }},
    RedisOption{
        "db",
        [](RedisUri& uri, const UriValue& value) { uri.database = value.number(0, most_database); },
        [](const RedisUri& uri) -> std::string {
          if (uri.transport == RedisUri::Transport::unix_socket) return {};
          return "redis+unix://; here the database is the path, as in redis://host/1";
        }},
};

}  // namespace

RedisUri RedisUri::parse(std::string_view text) {
  const auto* const scheme = std::ranges::find_if(
      schemes, [&](const Scheme& each) { return text.starts_with(each.prefix); });
  if (scheme == schemes.end()) {
    refuse(
        "a Redis URI begins with redis://, rediss://, redis+unix://, redis+sentinel://, "
        "redis+cluster:// or redis+set://");
  }
  RedisUri uri;
  uri.transport = scheme->transport;
  uri.deployment = scheme->deployment;
  uri.locks = scheme->locks;
  const UriSyntax syntax(scheme->prefix, scheme->example);
  UriParts parts = syntax.split(text.substr(scheme->prefix.size()));
  uri.user = std::move(parts.user);
  uri.password = std::move(parts.password);
  if (uri.transport == RedisUri::Transport::unix_socket) {
    parse_socket(parts.hosts, parts.path, syntax, uri);
  } else {
    parse_hosts(parts.hosts, syntax, uri);
    parse_path(parts.path, scheme->prefix, syntax, uri);
  }
  if (uri.transport != RedisUri::Transport::tls) uri.tls.missing_scheme = scheme->with_tls;
  read_options(syntax, parts, uri_options, uri);
  uri.tls.complete(syntax);
  return uri;
}

std::string RedisUri::describe() const {
  if (transport == Transport::unix_socket) {
    return "redis+unix://" + path + (database != 0 ? "?db=" + std::to_string(database) : "");
  }
  std::string text = transport == Transport::tls ? "rediss" : "redis";
  if (locks == Locks::set) text += "+set";
  if (deployment == Deployment::sentinel) text += "+sentinel";
  if (deployment == Deployment::cluster) text += "+cluster";
  text += "://";
  if (deployment == Deployment::server) {
    return text + endpoint.text() + "/" + std::to_string(database);
  }
  text += host_list(endpoints);
  if (deployment == Deployment::cluster) return text;
  return text + "/" + master + "/" + std::to_string(database);
}

RedisUri RedisUri::server_at(const Endpoint& where) const {
  RedisUri uri = *this;
  uri.deployment = Deployment::server;
  uri.endpoint = where;
  uri.endpoints.clear();
  return uri;
}

RedisUri RedisUri::sentinel_at(const Endpoint& where) const {
  RedisUri uri = server_at(where);
  uri.user = sentinel_user;
  uri.password = sentinel_password;
  uri.database = 0;
  return uri;
}

}  // namespace latchkey::inline v1::detail::redis
