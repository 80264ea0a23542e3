// Properties of requests that routers and sessions ask for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail::redis {

/// The key that decides which server a request goes to.
[[nodiscard]] inline std::string_view key_of(const Request& request) noexcept {
  const bool several = request.verb == Verb::acquire_all && !request.members.empty();
  return several ? request.members.front().key : request.key;
}

}  // namespace latchkey::inline v1::detail::redis
