// Parses Redis URIs.
// SPDX-License-Identifier: BSL-1.0
#include "redis/uri/redis_uri.hpp"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "core/quoted.hpp"
#include "redis/protocol/number.hpp"
#include "redis/uri/percent_decoding.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using Deployment = RedisUri::Deployment;
using Endpoint = RedisUri::Endpoint;

struct Scheme {
  std::string_view prefix;
  RedisUri::Transport transport;
  Deployment deployment;
  RedisUri::Locks locks = RedisUri::Locks::redisson;
};

constexpr std::array schemes{
    Scheme{"redis://", RedisUri::Transport::tcp, Deployment::server},
    Scheme{"rediss://", RedisUri::Transport::tls, Deployment::server},
    Scheme{"redis+unix://", RedisUri::Transport::unix_socket, Deployment::server},
    Scheme{"redis+sentinel://", RedisUri::Transport::tcp, Deployment::sentinel},
    Scheme{"rediss+sentinel://", RedisUri::Transport::tls, Deployment::sentinel},
    Scheme{"redis+cluster://", RedisUri::Transport::tcp, Deployment::cluster},
    Scheme{"rediss+cluster://", RedisUri::Transport::tls, Deployment::cluster},
    Scheme{"redis+set://", RedisUri::Transport::tcp, Deployment::server, RedisUri::Locks::set},
    Scheme{"rediss+set://", RedisUri::Transport::tls, Deployment::server, RedisUri::Locks::set},
};
constexpr std::uint16_t sentinel_port = 26'379;

constexpr int most_database = 1'000'000;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

int parse_database(std::string_view text) {
  int number = -1;
  if (!read_number(text, number) || number < 0 || number > most_database) {
    refuse("the database of a Redis URI is a number such as 0, not " + quoted(text));
  }
  return number;
}

std::uint16_t parse_port(std::string_view text) {
  std::uint16_t number = 0;
  if (!read_number(text, number) || number == 0) {
    refuse("the port of a Redis URI is a number from 1 to 65535, not " + quoted(text));
  }
  return number;
}

void parse_login(std::string_view login, RedisUri& uri) {
  const std::size_t colon = login.find(':');
  uri.user = decoded(login.substr(0, colon), "user");
  if (colon != std::string_view::npos) uri.password = decoded(login.substr(colon + 1), "password");
}

/// `text` is `host[:port]`.
Endpoint parse_endpoint(std::string_view text, std::uint16_t default_port) {
  Endpoint endpoint{.host = {}, .port = default_port};
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) refuse("the '[' of an IPv6 address lacks its ']'");
    endpoint.host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && !rest.starts_with(':')) {
      refuse("between ']' and the port of a Redis URI stands a ':', not " + quoted(rest));
    }
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else {
    const std::size_t colon = text.find(':');
    endpoint.host = decoded(text.substr(0, colon), "host");
    has_port = colon != std::string_view::npos;
    if (has_port) port = text.substr(colon + 1);
    if (port.find(':') != std::string_view::npos) {
      refuse("a Redis URI has one host and one port; an IPv6 address stands in brackets, as [::1]");
    }
  }
  if (endpoint.host.empty()) refuse("a Redis URI names a host: redis://127.0.0.1:6379");
  if (has_port) endpoint.port = parse_port(port);
  return endpoint;
}

void parse_endpoints(std::string_view text, RedisUri& uri) {
  const std::uint16_t port = uri.deployment == Deployment::sentinel ? sentinel_port : 6379;
  if (uri.deployment == Deployment::server) {
    if (text.find(',') != std::string_view::npos) {
      refuse(
          "a redis:// URI names one server: several are redis+sentinel://h1,h2,h3/master, "
          "redis+cluster://h1,h2,h3 or \"quorum: redis://h1 redis://h2 redis://h3\"");
    }
    uri.endpoint = parse_endpoint(text, port);
    return;
  }
  for (;;) {
    const std::size_t comma = text.find(',');
    uri.endpoints.push_back(parse_endpoint(text.substr(0, comma), port));
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

/// `path` is the text between hosts and options, with its '/'.
void parse_path(std::string_view path, RedisUri& uri) {
  path.remove_prefix(std::min<std::size_t>(path.size(), 1));
  if (uri.deployment == Deployment::sentinel) {
    const std::size_t slash = path.find('/');
    uri.master = decoded(path.substr(0, slash), "master's name");
    if (uri.master.empty()) {
      refuse(
          "a redis+sentinel:// URI says by which name the sentinels know the master: "
          "redis+sentinel://h1,h2,h3/master");
    }
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  if (!path.empty()) uri.database = parse_database(path);
  if (uri.deployment == Deployment::cluster && uri.database != 0) {
    refuse("a Redis cluster has database 0 only, not " + quoted(path));
  }
}

void parse_socket(std::string_view endpoint, std::string_view path, RedisUri& uri) {
  if (!endpoint.empty() || path.size() < 2) {
    refuse("a Unix socket is written with its whole path: redis+unix:///run/redis.sock");
  }
  uri.path = decoded(path, "path");
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

OwnerFormat parse_format(std::string_view text) {
  if (text == "hold_id") return OwnerFormat::hold_id;
  if (text == "redlock") return OwnerFormat::redlock;
  if (text == "redsync") return OwnerFormat::redsync;
  refuse("the format of a redis+set:// URI is hold_id, redlock or redsync, not " + quoted(text));
}

void parse_option(std::string_view text, std::string_view scheme, RedisUri& uri) {
  const std::size_t sign = text.find('=');
  const std::string_view name = text.substr(0, sign);
  const std::string_view value =
      sign == std::string_view::npos ? std::string_view() : text.substr(sign + 1);
  const bool is_format = name == "format" && uri.locks == RedisUri::Locks::set;
  const bool is_database = name == "db" && uri.transport == RedisUri::Transport::unix_socket;
  const auto* const option =
      std::ranges::find_if(options, [&](const Option& each) { return each.name == name; });
  const bool known = option != options.end() && option->fits(uri);
  if (!known && !is_database && !is_format) {
    refuse(quoted(name) + " is no option of a " + std::string(scheme) +
           " URI: " + known_options(uri));
  }
  if (value.empty()) refuse("the option " + quoted(name) + " of the Redis URI has no value");
  if (is_database) {
    uri.database = parse_database(value);
    return;
  }
  if (is_format) {
    uri.owners = parse_format(value);
    return;
  }
  uri.*(option->value) = decoded(value, name);
}

void parse_options(std::string_view text, std::string_view scheme, RedisUri& uri) {
  for (;;) {
    const std::size_t end = text.find('&');
    parse_option(text.substr(0, end), scheme, uri);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (uri.certificate_file.empty() != uri.key_file.empty()) {
    refuse("the options 'cert' and 'key' of a rediss:// URI come together");
  }
  // CLIENT SETNAME takes printable characters without spaces.
  const bool printable =
      std::ranges::all_of(uri.client_name, [](char each) { return each >= '!' && each <= '~'; });
  if (!printable) refuse("the option 'client_name' is printable text without spaces");
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
  std::string_view rest = text.substr(scheme->prefix.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(authority.size());
  const std::size_t at = authority.rfind('@');
  const bool login = at != std::string_view::npos;
  // Messages from here on quote the text, so it must not contain a part of a password.
  if (rest.find('@') != std::string_view::npos || (login && authority.find('@') != at)) {
    refuse(
        "in a Redis URI '@' stands once, behind user and password: within them '@' is %40, '/' is "
        "%2F, '?' is %3F, '#' is %23");
  }
  if (login) parse_login(authority.substr(0, at), uri);
  const std::string_view endpoint = login ? authority.substr(at + 1) : authority;
  const std::size_t question = rest.find('?');
  const std::string_view path = rest.substr(0, question);
  if (path.find('#') != std::string_view::npos || endpoint.find(' ') != std::string_view::npos) {
    refuse("a Redis URI has neither a '#' nor a space in it: they are %23 and %20");
  }
  if (uri.transport == RedisUri::Transport::unix_socket) {
    parse_socket(endpoint, path, uri);
  } else {
    parse_endpoints(endpoint, uri);
    parse_path(path, uri);
  }
  if (question != std::string_view::npos) {
    parse_options(rest.substr(question + 1), scheme->prefix, uri);
  }
  return uri;
}

}  // namespace latchkey::inline v1::detail::redis
