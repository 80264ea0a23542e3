// What routes and links want to know of a request.
#pragma once

#include <string_view>

#include <latchkey/backend.hpp>

namespace latchkey::detail::redis {

/// The key that says where a request belongs.
[[nodiscard]] inline std::string_view key_of(const Request& request) noexcept {
  const bool several = request.verb == Verb::acquire_all && !request.members.empty();
  return several ? request.members.front().key : request.key;
}

[[nodiscard]] inline bool gives_back(Verb verb) noexcept {
  return verb == Verb::release || verb == Verb::leave;
}

}  // namespace latchkey::detail::redis
