// The parts of a postgresql:// URI.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/uri/tls_options.hpp"
#include "backend/uri/uri_options.hpp"
#include "backend/uri/uri_syntax.hpp"

namespace latchkey::inline v1::detail::postgresql {

struct PostgresqlUri {
  /// A host that begins with '/' is the folder of a Unix socket. Several: the first one that
  /// accepts writes.
  std::vector<UriEndpoint> hosts;
  std::string user, password, database;
  LockSchema schema = LockSchema::latchkey;
  std::string table;            ///< of ShedLock
  bool create = false;          ///< creates latchkey's tables if they are missing
  bool session_pooler = false;  ///< a pooler on the way keeps one session for each client
  TlsOptions tls;
  /// Passed to libpq as they are, such as sslmode.
  std::vector<std::pair<std::string, std::string>> parameters;

  /// `uri` contains its scheme. Throws std::invalid_argument with one sentence.
  [[nodiscard]] static PostgresqlUri parse(std::string_view uri);
  /// For messages: neither user nor password.
  [[nodiscard]] std::string describe() const;
};

}  // namespace latchkey::inline v1::detail::postgresql
