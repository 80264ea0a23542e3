// Replies of the API server that are no success, as outcomes.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/api_reply.hpp"

#include <algorithm>

#include <latchkey/detail/in_quotes.hpp>
#include "core/text/number.hpp"
#include "stores/kubernetes/lease.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

using http2::HttpEnd;

/// The user in `… is forbidden: User "system:serviceaccount:shop:bank" cannot update …`.
std::string user_in(const std::string& message) {
  constexpr std::string_view before = "User \"";
  const std::size_t at = message.find(before);
  if (at == std::string::npos) return "this client";
  const std::size_t begin = at + before.size();
  return in_quotes(message.substr(begin, message.find('"', begin) - begin));
}

std::string missing_rule(const ApiStatus& status, const ApiAction& action) {
  const std::string verb(action.verb);
  const std::string space = in_quotes(action.name_space);
  return "the API server forbids " + user_in(status.message) + " to " + verb +
         " leases in the namespace " + space +
         R"(; bind it to a Role with the rule {apiGroups: ["coordination.k8s.io"], )" +
         R"(resources: ["leases"], verbs: [")" + verb + "\"]}";
}

}  // namespace

bool is_throttled(const HttpEnd& end) noexcept {
  return end.status == HttpStatus::too_many_requests;
}

// The header "retry-after" is the one that is kept.
std::chrono::seconds pause_of(const HttpEnd& end) noexcept {
  constexpr int longest = 60;
  int seconds = 1;
  const bool is_number = read_number(std::string_view(end.headers.front()), seconds);
  return std::chrono::seconds(is_number ? std::clamp(seconds, 1, longest) : 1);
}

std::string reason_of(const HttpEnd& end, const ApiAction& action) {
  if (end.status == 0) return end.text;
  const std::string number = " (HTTP status " + std::to_string(end.status) + ")";
  const ApiStatus status = read_status(end.body);
  if (status.reason.empty() && end.status != HttpStatus::unauthorized) {
    return "the server, or a proxy in front of it, does not answer as the API server of Kubernetes "
           "does" +
           number;
  }
  switch (end.status) {
    case HttpStatus::unauthorized:
      return "the API server rejects the token or the certificate of this client; check "
             "token_file, or tls_cert";
    case HttpStatus::forbidden:
      if (status.message.find(" cannot ") != std::string::npos) return missing_rule(status, action);
      break;
    case HttpStatus::not_found:
      if (status.kind == "namespaces") {
        return "the namespace " + in_quotes(action.name_space) +
               " does not exist; create it, or name another in the URI";
      }
      break;
    case HttpStatus::too_many_requests:
      return "the API server is overloaded, and asks to try again later";
    default: break;
  }
  return "the API server says: " + status.message + number;
}

Outcome outcome_of(const HttpEnd& end, const ApiAction& action) {
  Outcome outcome;
  outcome.reason = reason_of(end, action);
  const bool is_answer =
      end.status != 0 && !is_throttled(end) && end.status < HttpStatus::first_of_server &&
      (end.status == HttpStatus::unauthorized || !read_status(end.body).reason.empty());
  if (is_answer) {
    outcome.kind = Outcome::Kind::refused;
    outcome.never_ran = true;
    return outcome;
  }
  outcome.never_ran = !action.writes() || !end.sent || is_throttled(end);
  return outcome;
}

}  // namespace latchkey::inline v1::detail::kubernetes
