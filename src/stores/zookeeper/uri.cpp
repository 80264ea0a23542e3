// The URI of a ZooKeeper ensemble.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/uri.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

#include <latchkey/detail/in_quotes.hpp>
#include "backend/uri/uri_options.hpp"
#include "stores/zookeeper/node_name.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view scheme = "zookeeper://";
constexpr UriSyntax syntax("ZooKeeper", "zookeeper://zk1,zk2:2181,zk3/locks");
constexpr std::uint16_t default_port = 2181;

/// A fifth, because the client gives a sign of life every tenth of the session. With a short lease
/// half a tick, 1 s by default, counts for more than that.
milliseconds margin_over(milliseconds lease) {
  return std::max(lease / 5, std::min(milliseconds(2000), lease / 2));
}

constexpr std::array uri_options{
    KnownOption<ZooKeeperUri>{"session",
                              [](ZooKeeperUri& uri, const UriValue& value) {
                                uri.session = uri.requested_session =
                                    value.duration(milliseconds(100), std::chrono::hours(1),
                                                   "a time from 100ms to 1h");
                              }},
    KnownOption<ZooKeeperUri>{"acl",
                              [](ZooKeeperUri& uri, const UriValue& value) {
                                uri.open = value.one_of<bool>({{"open", true}, {"creator", false}});
                                if (uri.open || !uri.user.empty()) return;
                                throw std::invalid_argument(
                                    "acl=creator needs user and password in the ZooKeeper URI: "
                                    "zookeeper://user:password@host/locks?acl=creator");
                              }},
};

}  // namespace

ZooKeeperUri ZooKeeperUri::parse(std::string_view uri, milliseconds default_session) {
  if (!uri.starts_with(scheme)) {
    throw std::invalid_argument("a ZooKeeper URI begins with zookeeper://");
  }
  const UriParts parts = syntax.split(uri.substr(scheme.size()));
  ZooKeeperUri parsed;
  parsed.servers = syntax.endpoints(parts.hosts, default_port);
  parsed.user = parts.user;
  parsed.password = parts.password;
  parsed.session = default_session;
  parsed.requested_session = default_session + margin_over(default_session);
  parsed.open = parts.user.empty();
  if (parts.user.empty() != parts.password.empty()) {
    throw std::invalid_argument(
        "invalid ZooKeeper URI: expected both user and password, or neither");
  }
  if (parts.user.find(':') != std::string::npos) {
    throw std::invalid_argument("invalid user in the ZooKeeper URI: its name must not contain ':'");
  }
  if (parts.path.size() > 1) {
    parsed.folder = syntax.decoded(parts.path, "path");
    if (parsed.folder.ends_with('/')) parsed.folder.pop_back();
    // A path that would have to be encoded is not the one that others use.
    if (path_of_key(std::string_view(parsed.folder).substr(1)) != parsed.folder.substr(1)) {
      throw std::invalid_argument("invalid path " + in_quotes(parsed.folder) +
                                  " in the ZooKeeper URI: ZooKeeper does not allow it");
    }
  }
  read_options(syntax, parts, uri_options, parsed);
  return parsed;
}

std::string ZooKeeperUri::describe() const {
  return std::string(scheme) + host_list(servers) + folder;
}

}  // namespace latchkey::inline v1::detail::zookeeper
