// The parts of a mysql:// URI.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "backend/uri/tls_options.hpp"
#include "backend/uri/uri_options.hpp"
#include "backend/uri/uri_syntax.hpp"

namespace latchkey::inline v1::detail::mysql {

struct MysqlUri {
  UriEndpoint host;
  std::string user;  ///< empty: the name of the process's effective user
  std::string password, database;
  std::string socket;  ///< the path of a Unix socket; empty: TCP
  TlsOptions tls;
  LockSchema schema = LockSchema::latchkey;
  std::string table = "shedlock";
  bool create = false;                 ///< creates latchkey's tables if they are missing
  std::chrono::milliseconds poll{10};  ///< the longest pause of a waiter between attempts

  /// `uri` contains its scheme. Throws std::invalid_argument with one sentence.
  [[nodiscard]] static MysqlUri parse(std::string_view uri);
  /// Whether the connection is encrypted, and the server's certificate is verified.
  [[nodiscard]] bool has_tls() const noexcept { return tls.names_files(); }
  /// For messages: neither user nor password.
  [[nodiscard]] std::string describe() const;
};

}  // namespace latchkey::inline v1::detail::mysql
