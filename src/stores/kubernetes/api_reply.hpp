// Replies of the API server that are no success, as outcomes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

#include "stores/http2/http_transport.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// The statuses of HTTP that matter here.
struct HttpStatus {
  static constexpr int ok = 200, created = 201, first_of_errors = 400, unauthorized = 401,
                       forbidden = 403, not_found = 404, conflict = 409, gone = 410,
                       too_many_requests = 429, first_of_server = 500;
};

/// A request of the API.
struct ApiAction {
  std::string_view verb;  ///< as in a Role: get, create, update, list or watch
  std::string_view name_space;
  [[nodiscard]] bool writes() const noexcept { return verb == "create" || verb == "update"; }
};

/// Whether the API server asks to try again, and has not begun with the request.
[[nodiscard]] bool is_throttled(const http2::HttpEnd& end) noexcept;
/// How long it asks to wait: at least a second.
[[nodiscard]] std::chrono::seconds pause_of(const http2::HttpEnd& end) noexcept;

/// Why a request has failed, as a clause; a permission that is missing with the rule that grants
/// it.
[[nodiscard]] std::string reason_of(const http2::HttpEnd& end, const ApiAction& action);

/// The outcome of a request that has failed: unknown or refused.
[[nodiscard]] Outcome outcome_of(const http2::HttpEnd& end, const ApiAction& action);

}  // namespace latchkey::inline v1::detail::kubernetes
