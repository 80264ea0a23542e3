// Reads the URI of an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/uri.hpp"

#include <array>
#include <chrono>
#include <stdexcept>
#include <string_view>

#include "backend/uri/uri_options.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

constexpr std::uint16_t default_port = 2379;
/// etcd's own least, at its default settings; a day is more than any process needs.
constexpr std::chrono::seconds shortest_session{2}, longest_session{86'400};
constexpr UriSyntax syntax("etcd", "etcd://h1:2379,h2:2379/locks");
constexpr std::string_view plain_scheme = "etcd://", tls_scheme = "etcds://";

std::chrono::seconds session_of(const UriValue& value) {
  constexpr std::string_view expected = "whole seconds from 2 s on, such as 45s";
  const auto length = value.duration(shortest_session, longest_session, expected);
  const auto session = std::chrono::floor<std::chrono::seconds>(length);
  if (session != length) value.refuse(expected);
  return session;
}

constexpr std::array uri_options{
    KnownOption<EtcdUri>{
        "session", [](EtcdUri& uri, const UriValue& value) { uri.session = session_of(value); }},
    tls_ca<EtcdUri>,
    tls_cert<EtcdUri>,
    tls_key<EtcdUri>,
    tls_server_name<EtcdUri>,
};

/// Empty, or with one '/' at the end.
std::string as_folder(std::string prefix) {
  while (prefix.ends_with('/')) prefix.pop_back();
  if (!prefix.empty()) prefix += '/';
  return prefix;
}

}  // namespace

EtcdUri EtcdUri::parse(std::string_view text) {
  EtcdUri uri;
  if (!text.starts_with(tls_scheme)) uri.tls.missing_scheme = tls_scheme;
  text.remove_prefix(uri.tls.offered() ? tls_scheme.size() : plain_scheme.size());
  UriParts parts = syntax.split(text);
  uri.endpoints = syntax.endpoints(parts.hosts, default_port);
  uri.user = std::move(parts.user);
  uri.password = std::move(parts.password);
  if (!uri.password.empty() && uri.user.empty()) {
    throw std::invalid_argument("missing user in the etcd URI; example: etcd://user:password@host");
  }
  if (parts.path.size() > 1) uri.prefix = as_folder(syntax.decoded(parts.path.substr(1), "prefix"));
  read_options(syntax, parts, uri_options, uri);
  uri.tls.complete(syntax);
  return uri;
}

std::string EtcdUri::describe() const {
  std::string text(tls.offered() ? tls_scheme : plain_scheme);
  text += host_list(endpoints);
  if (!prefix.empty()) text += '/' + prefix.substr(0, prefix.size() - 1);
  return text;
}

}  // namespace latchkey::inline v1::detail::etcd
