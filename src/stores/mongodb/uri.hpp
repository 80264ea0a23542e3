// Reads mongodb: URIs.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mongoc/mongoc.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "backend/uri/uri_options.hpp"

namespace latchkey::inline v1::detail::mongodb {

/// The contents of a URI.
struct Settings {
  std::shared_ptr<const mongoc_uri_t> uri;  ///< without latchkey's own options
  std::string database, collection;
  LockSchema schema = LockSchema::latchkey;
  bool tls = false;
  std::chrono::milliseconds timeout{};  ///< how long one command may take
  std::string description;              ///< scheme, hosts and database
};

/// Throws std::invalid_argument with one sentence, which contains neither user nor password.
[[nodiscard]] Settings parse_uri(std::string_view uri, std::chrono::milliseconds command_timeout);

}  // namespace latchkey::inline v1::detail::mongodb
