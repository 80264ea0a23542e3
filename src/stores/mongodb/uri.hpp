// Reads mongodb: URIs.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mongoc/mongoc.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail::mongodb {

/// How the locks are stored.
enum class Layout : std::uint8_t {
  latchkey,  ///< LockDocument
  shedlock,  ///< {_id, lockUntil, lockedAt, lockedBy}
};

/// The contents of a URI.
struct Settings {
  std::shared_ptr<const mongoc_uri_t> uri;  ///< without latchkey's own options
  std::string database, collection;
  Layout layout = Layout::latchkey;
  bool tls = false;
  std::chrono::milliseconds timeout{};  ///< how long one command may take
  std::string description;              ///< scheme, hosts and database
};

/// Throws std::invalid_argument with one sentence, which contains neither user nor password.
[[nodiscard]] Settings parse_uri(std::string_view uri, std::chrono::milliseconds command_timeout);

}  // namespace latchkey::inline v1::detail::mongodb
