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

/// Asks for something that is not there yet: without a connection it is not kept for long. What
/// keeps, gives back, or listens waits for the next connection as long as a command may take.
[[nodiscard]] inline bool is_question(Verb verb) noexcept {
  switch (verb) {
    case Verb::acquire:
    case Verb::acquire_all:
    case Verb::inspect:
    case Verb::list:
    case Verb::force_release: return true;
    default: return false;
  }
}

[[nodiscard]] inline bool gives_back(Verb verb) noexcept {
  return verb == Verb::release || verb == Verb::leave;
}

}  // namespace latchkey::detail::redis
