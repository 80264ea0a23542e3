// The URI of an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backend/uri/tls_options.hpp"
#include "backend/uri/uri_syntax.hpp"

namespace latchkey::inline v1::detail::etcd {

/// `etcd://[user:password@]host[:port][,…][/prefix][?session=45s]`, and `etcds://` with TLS.
struct EtcdUri {
  std::vector<UriEndpoint> endpoints;
  std::string user, password;
  std::string prefix;  ///< every key begins with it: empty, or with '/' at the end
  std::chrono::seconds session{45};
  TlsOptions tls;  ///< etcds: offered

  /// Throws std::invalid_argument with one sentence.
  [[nodiscard]] static EtcdUri parse(std::string_view text);
  /// Without user and password.
  [[nodiscard]] std::string describe() const;
};

}  // namespace latchkey::inline v1::detail::etcd
