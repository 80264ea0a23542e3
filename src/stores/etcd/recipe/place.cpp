// What etcd's answers mean for a request.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/recipe/place.hpp"

#include "core/in_quotes.hpp"

namespace latchkey::inline v1::detail::etcd {

HolderName holder_of(const KeyValue& key) {
  const std::string id = key.value.substr(0, key.value.find(' '));
  if (HoldId::parse(id)) return {id, false};
  return {"an etcd client with the lease " + key.key.substr(key.key.rfind('/') + 1), true};
}

Outcome outcome_of(const CallEnd& end, std::string_view key) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::refused;
  outcome.reason = end.text;
  switch (end.status) {
    case GrpcStatus::no_answer:
      outcome.kind = Outcome::Kind::unknown;
      outcome.never_ran = !end.sent;
      break;
    case GrpcStatus::unauthenticated:
      outcome.kind = Outcome::Kind::unknown;
      outcome.never_ran = true;
      break;
    case GrpcStatus::permission_denied:
      outcome.reason = "etcd denies access to " + in_quotes(key) +
                       ": grant the user's role readwrite on the keys with that prefix";
      break;
    case GrpcStatus::resource_exhausted:
      outcome.reason = "etcd accepts no writes: " + end.text;
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
