// Redis URIs, parsed and described.
// SPDX-License-Identifier: BSL-1.0
#include "redis/uri/redis_uri.hpp"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <latchkey/in_quotes.hpp>

#include "backend/uri/uri_syntax.hpp"
#include "core/text/number.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using Deployment = RedisUri::Deployment;
using Endpoint = RedisUri::Endpoint;

struct Scheme {
  std::string_view prefix, example;
  RedisUri::Transport transport;
  Deployment deployment;
  RedisUri::Locks locks = RedisUri::Locks::redisson;
};

constexpr std::array schemes{
    Scheme{"redis://", "redis://127.0.0.1:6379", RedisUri::Transport::tcp, Deployment::server},
    Scheme{"rediss://", "rediss://127.0.0.1:6379", RedisUri::Transport::tls, Deployment::server},
    Scheme{"redis+unix://", "redis+unix:///run/redis.sock", RedisUri::Transport::unix_socket,
           Deployment::server},
    Scheme{"redis+sentinel://", "redis+sentinel://h1,h2,h3/master", RedisUri::Transport::tcp,
           Deployment::sentinel},
    Scheme{"rediss+sentinel://", "rediss+sentinel://h1,h2,h3/master", RedisUri::Transport::tls,
           Deployment::sentinel},
    Scheme{"redis+cluster://", "redis+cluster://h1,h2,h3", RedisUri::Transport::tcp,
           Deployment::cluster},
    Scheme{"rediss+cluster://", "rediss+cluster://h1,h2,h3", RedisUri::Transport::tls,
           Deployment::cluster},
    Scheme{"redis+set://", "redis+set://127.0.0.1:6379", RedisUri::Transport::tcp,
           Deployment::server, RedisUri::Locks::set},
    Scheme{"rediss+set://", "rediss+set://127.0.0.1:6379", RedisUri::Transport::tls,
           Deployment::server, RedisUri::Locks::set},
};
constexpr std::uint16_t server_port = 6379, sentinel_port = 26'379;

constexpr int most_database = 1'000'000;

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

struct Option {
  enum class Where : std::uint8_t { everywhere, tls, sentinel };

  std::string_view name;
  std::string RedisUri::* value;
  Where where;

  [[nodiscard]] bool fits(const RedisUri& uri) const noexcept {
    switch (where) {
      case Where::everywhere: break;
      case Where::tls: return uri.transport == RedisUri::Transport::tls;
      case Where::sentinel: return uri.deployment == Deployment::sentinel;
    }
    return true;
  }
};

constexpr std::array options{
    Option{"client_name", &RedisUri::client_name, Option::Where::everywhere},
    Option{"cafile", &RedisUri::ca_file, Option::Where::tls},
    Option{"cert", &RedisUri::certificate_file, Option::Where::tls},
    Option{"key", &RedisUri::key_file, Option::Where::tls},
    Option{"servername", &RedisUri::server_name, Option::Where::tls},
    Option{"sentinel_user", &RedisUri::sentinel_user, Option::Where::sentinel},
    Option{"sentinel_password", &RedisUri::sentinel_password, Option::Where::sentinel},
};

std::string known_options(const RedisUri& uri) {
  std::string names;
  for (const Option& option : options) {
    if (!option.fits(uri)) continue;
    names += names.empty() ? "" : ", ";
    names += option.name;
  }
  if (uri.locks == RedisUri::Locks::set) names += ", format";
  return uri.transport == RedisUri::Transport::unix_socket ? names + ", db" : names;
}

OwnerFormat parse_format(std::string_view text, const UriSyntax& syntax) {
  if (text == "hold_id") return OwnerFormat::hold_id;
  if (text == "redlock") return OwnerFormat::redlock;
  if (text == "redsync") return OwnerFormat::redsync;
  syntax.refuse_value("format", text, "hold_id, redlock or redsync");
}

void parse_option(const UriOption& given, std::string_view scheme, const UriSyntax& syntax,
                  RedisUri& uri) {
  if (given.name == "format" && uri.locks == RedisUri::Locks::set) {
    uri.owners = parse_format(given.value, syntax);
    return;
  }
  if (given.name == "db" && uri.transport == RedisUri::Transport::unix_socket) {
    uri.database = parse_database(given.value, scheme);
    return;
  }
  const auto* const option =
      std::ranges::find_if(options, [&](const Option& each) { return each.name == given.name; });
  if (option == options.end() || !option->fits(uri)) {
    syntax.refuse_option(given.name, known_options(uri));
  }
  uri.*(option->value) = syntax.decoded(given.value, given.name);
}

void check_options(const RedisUri& uri) {
  if (uri.certificate_file.empty() != uri.key_file.empty()) {
    refuse("the options 'cert' and 'key' of a rediss:// URI must be given together");
  }
  // CLIENT SETNAME takes printable characters without spaces.
  const bool printable =
      std::ranges::all_of(uri.client_name, [](char each) { return each >= '!' && each <= '~'; });
  if (!printable) refuse("the option 'client_name' must be printable text without spaces");
}

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
  if (parts.has_options) {
    for (const UriOption& option : syntax.options(parts.options)) {
      parse_option(option, scheme->prefix, syntax, uri);
    }
  }
  check_options(uri);
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
  for (const Endpoint& each : endpoints)
    text += (&each != endpoints.data() ? "," : "") + each.text();
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
