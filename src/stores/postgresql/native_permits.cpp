// The calls of latchkey's functions for semaphores.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/native_permits.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "backend/refusals.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

using Kind = Outcome::Kind;

constexpr std::int64_t most_permits = std::numeric_limits<std::uint32_t>::max();

Outcome acquired_permits(const Request& request, std::string_view reply) {
  if (reply == "l") return refusal(key_is_a_lock);
  if (reply == "o") return lacks_functions("semaphores");
  const std::string_view rest = reply.substr(std::min<std::size_t>(2, reply.size()));
  const std::optional<std::int64_t> number =
      exact_number_in(rest.substr(0, std::min(rest.find(' '), rest.size())));
  if (!number || *number < 0 || reply[1] != ' ') return malformed_outcome();
  Outcome outcome;
  switch (reply.front()) {
    case 'g':
      outcome.kind = Kind::granted;
      outcome.permits_left = static_cast<std::uint32_t>(std::min(*number, most_permits));
      return outcome;
    case 'b':
      outcome.kind = Kind::busy;
      outcome.retry_after = time_of(*number);
      return outcome;
    case 'f': return refusal(too_few_permits(request, *number));
    default: return malformed_outcome();
  }
}

}  // namespace

bool calls_permits(const Request& request) noexcept {
  if (request.type != LockType::PERMIT) return false;
  switch (request.verb) {
    case Verb::acquire:
    case Verb::leave:
    case Verb::downgrade:
    case Verb::resize:
    case Verb::force_release: return true;
    default: return false;
  }
}

Call permits_call(const Request& request) {
  std::string name(request.key);
  switch (request.verb) {
    case Verb::acquire:
      return {"acquire_permits",
              {std::move(name), request.id.text(), milliseconds_text(request.lease),
               std::to_string(request.permits.taken), std::to_string(request.permits.total),
               note_of(request)}};
    // A hold of permits has no place in a queue, and is never downgraded.
    case Verb::leave: return {"release", {std::move(name), request.id.text(), "p"}};
    case Verb::downgrade:
      return {"renew",
              {std::move(name), request.id.text(), "p", milliseconds_text(request.lease),
               std::nullopt}};
    case Verb::resize:
      return {"resize_permits", {std::move(name), std::to_string(request.permits.total)}};
    default: return {"destroy_permits", {std::move(name)}};
  }
}

Outcome permits_outcome(const Request& request, std::string_view reply) {
  if (request.verb == Verb::acquire) return acquired_permits(request, reply);
  if (reply == "o") return lacks_functions("semaphores");
  Outcome outcome;
  outcome.kind = Kind::granted;
  if (request.verb == Verb::leave) {
    const std::optional<std::int64_t> notified = exact_number_in(reply);
    if (!notified) return malformed_outcome();
    if (*notified < 0) outcome.kind = Kind::gone;
  } else if (request.verb == Verb::downgrade) {
    return boolean_outcome(reply);
  } else if (request.verb == Verb::resize ? reply != "t" : reply.empty()) {
    return refusal(key_is_a_lock);
  } else if (reply == "f") {
    outcome.kind = Kind::gone;
  }
  return outcome;
}

void check_kind(const Request& request, Outcome& outcome) {
  if (request.type != LockType::PERMIT || request.info == nullptr) return;
  if (request.info->permits) return;
  outcome = {};
  if (request.info->locked) {
    outcome = refusal(key_is_a_lock);
  } else {
    outcome.kind = Kind::gone;
  }
}

}  // namespace latchkey::inline v1::detail::postgresql
