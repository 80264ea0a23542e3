// The URI of a ZooKeeper ensemble.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backend/uri/uri_syntax.hpp"

namespace latchkey::inline v1::detail::zookeeper {

struct ZooKeeperUri {
  std::vector<UriEndpoint> servers;
  std::string user, password;
  std::string folder;                   ///< empty, or such as "/locks"
  std::chrono::milliseconds session{};  ///< the least that the server has to offer
  /// The session that the client requests. The leader hears of a client's signs of life late, so a
  /// session that nobody has chosen is longer than the longest lease.
  std::chrono::milliseconds requested_session{};
  bool open = true;  ///< everybody may use the nodes

  /// `default_session`: without an option. Throws std::invalid_argument with one sentence, which
  /// contains neither user nor password.
  [[nodiscard]] static ZooKeeperUri parse(std::string_view uri,
                                          std::chrono::milliseconds default_session);

  /// Without user and password.
  [[nodiscard]] std::string describe() const;
};

}  // namespace latchkey::inline v1::detail::zookeeper
