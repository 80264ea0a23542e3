// The texts of refusals that several backends share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail {

[[nodiscard]] inline Outcome refusal(std::string reason) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::refused;
  outcome.reason = std::move(reason);
  return outcome;
}

inline constexpr const char* key_is_a_lock = "the key is a lock";
inline constexpr const char* key_is_a_semaphore = "the key is a semaphore";

/// The reason to refuse an acquire of more permits than the `total` of the semaphore.
[[nodiscard]] inline std::string too_few_permits(const Request& request, std::int64_t total) {
  return "the semaphore has " + std::to_string(total) + " permits, fewer than the " +
         std::to_string(request.permits.taken) + " that one acquire asks for";
}

/// Why ShedLock's table in a database does not serve `verb`; empty: it does.
[[nodiscard]] inline std::string why_not_with_shedlock(Verb verb) {
  switch (verb) {
    case Verb::acquire:
    case Verb::renew:
    case Verb::verify:
    case Verb::expire:
    case Verb::release:
    case Verb::leave: return {};
    default: return std::string(to_string(verb)) + " is not offered with ShedLock's table";
  }
}

}  // namespace latchkey::inline v1::detail
