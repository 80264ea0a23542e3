// Reads the URI of an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/uri.hpp"

#include <chrono>
#include <stdexcept>
#include <string_view>

#include <latchkey/in_quotes.hpp>

namespace latchkey::inline v1::detail::etcd {
namespace {

constexpr std::uint16_t default_port = 2379;
/// etcd's own least, at its default settings; a day is more than any process needs.
constexpr std::chrono::seconds shortest_session{2}, longest_session{86'400};
constexpr UriSyntax syntax("etcd", "etcd://h1:2379,h2:2379/locks");
constexpr std::string_view plain_scheme = "etcd://", tls_scheme = "etcds://";

std::chrono::seconds parse_session(const UriOption& option) {
  constexpr std::string_view expected = "whole seconds from 2 s on, such as 45s";
  const auto length = syntax.duration(option, shortest_session, longest_session, expected);
  const auto session = std::chrono::floor<std::chrono::seconds>(length);
  if (session != length) syntax.refuse_value(option.name, option.value, expected);
  return session;
}

/// Empty, or with one '/' at the end.
std::string as_folder(std::string prefix) {
  while (prefix.ends_with('/')) prefix.pop_back();
  if (!prefix.empty()) prefix += '/';
  return prefix;
}

void read_option(EtcdUri& uri, const UriOption& option) {
  const std::string value = syntax.decoded(option.value, "option");
  if (option.name == "session") {
    uri.session = parse_session({option.name, value});
  } else if (option.name == "cafile") {
    uri.tls.authority = value;
  } else if (option.name == "cert") {
    uri.tls.certificate = value;
  } else if (option.name == "key") {
    uri.tls.key = value;
  } else {
    syntax.refuse_option(option.name, "session, cafile, cert, key");
  }
}

}  // namespace

EtcdUri EtcdUri::parse(std::string_view text) {
  EtcdUri uri;
  uri.tls.used = text.starts_with(tls_scheme);
  text.remove_prefix(uri.tls.used ? tls_scheme.size() : plain_scheme.size());
  UriParts parts = syntax.split(text);
  uri.endpoints = syntax.endpoints(parts.hosts, default_port);
  uri.user = std::move(parts.user);
  uri.password = std::move(parts.password);
  if (!uri.password.empty() && uri.user.empty()) {
    throw std::invalid_argument("missing user in the etcd URI; example: etcd://user:password@host");
  }
  if (parts.path.size() > 1) uri.prefix = as_folder(syntax.decoded(parts.path.substr(1), "prefix"));
  if (parts.has_options) {
    for (const UriOption& option : syntax.options(parts.options)) read_option(uri, option);
  }
  const TlsFiles& tls = uri.tls;
  if (!tls.used && !(tls.authority + tls.certificate + tls.key).empty()) {
    throw std::invalid_argument("the options 'cafile', 'cert' and 'key' need TLS; use etcds://");
  }
  return uri;
}

std::string EtcdUri::describe() const {
  std::string text(tls.used ? tls_scheme : plain_scheme);
  for (const UriEndpoint& endpoint : endpoints) {
    if (&endpoint != &endpoints.front()) text += ',';
    text += endpoint.text();
  }
  if (!prefix.empty()) text += '/' + prefix.substr(0, prefix.size() - 1);
  return text;
}

}  // namespace latchkey::inline v1::detail::etcd
