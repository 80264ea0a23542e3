// How etcd's answers become the outcomes of requests.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/place.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>

#include "stores/etcd/queue_keys.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

bool says(const std::string& text, std::string_view words) noexcept {
  return text.find(words) != std::string::npos;
}

/// Exhausted for good: etcd has no space until an administrator gives it some, and a message stays
/// as long as it is. Everything else passes, such as a burst of requests.
bool is_exhausted_for_good(const std::string& text) noexcept {
  return says(text, "space exceeded") || says(text, "larger than max");
}

}  // namespace

std::string value_of(const Request& request) {
  std::string value = request.id.text();
  if (!request.note.empty()) value.append(" ").append(request.note);
  return value;
}

HolderName holder_of(const KeyValue& key) {
  const std::string id = key.value.substr(0, key.value.find(' '));
  if (HoldId::parse(id)) return {id, false};
  return {"an etcd client with the lease " + hex_of(key.lease), true};
}

Outcome unknown_because(std::string why) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::unknown;
  outcome.reason = std::move(why);
  return outcome;
}

Outcome outcome_of(const CallEnd& end, std::string_view key) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::refused;
  outcome.reason = end.text;
  outcome.never_ran = !end.sent;
  switch (end.status) {
    case GrpcStatus::no_answer: outcome.kind = Outcome::Kind::unknown; break;
    case GrpcStatus::unauthenticated:
      outcome.kind = Outcome::Kind::unknown;
      outcome.never_ran = true;
      break;
    case GrpcStatus::permission_denied:
      outcome.reason = "etcd denies access to " + in_quotes(key) +
                       ": grant the user's role readwrite on the keys with that prefix";
      break;
    case GrpcStatus::resource_exhausted:
      if (is_exhausted_for_good(end.text)) {
        outcome.reason = "etcd accepts no writes: " + end.text;
        break;
      }
      outcome.kind = Outcome::Kind::unknown;
      // etcd itself says this before it does anything; a proxy may say it later.
      if (end.text == "too many requests") outcome.never_ran = true;
      break;
    case GrpcStatus::invalid_argument:
    case GrpcStatus::failed_precondition:
    case GrpcStatus::unimplemented: break;
    case GrpcStatus::ok:
    case GrpcStatus::not_found:
    case GrpcStatus::unavailable: outcome.kind = Outcome::Kind::unknown; break;
    default: outcome.kind = Outcome::Kind::unknown; break;
  }
  return outcome;
}

}  // namespace latchkey::inline v1::detail::etcd
