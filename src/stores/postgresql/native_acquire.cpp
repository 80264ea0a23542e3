// The calls that acquire locks.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/refusals.hpp"
#include "stores/postgresql/native_layout.hpp"
#include "stores/postgresql/native_permits.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

/// Whether `latchkey.give_tokens` gives the token, which FENCED has from `latchkey.acquire`.
bool gives_token(LockType type, bool fenced) noexcept {
  return fenced && (type == LockType::WRITE || type == LockType::FAIR);
}

bool gives_tokens(const Request& request) noexcept {
  if (request.verb == Verb::acquire) return gives_token(request.type, request.fenced);
  return std::ranges::any_of(request.members, [](const Member& member) {
    return gives_token(member.type, member.fenced);
  });
}

Call call_of_one(const Request& request) {
  std::string name(request.key), owner = request.id.text();
  std::string lease = milliseconds_text(request.lease);
  std::string wait = milliseconds_text(request.queue_wait);
  if (gives_tokens(request)) {
    return {request.type == LockType::FAIR ? "acquire_fair_fenced" : "acquire_write_fenced",
            {std::move(name), std::move(owner), std::move(lease), std::move(wait), note_of(request),
             std::to_string(request.tokens)}};
  }
  switch (request.type) {
    case LockType::READ:
      return {"acquire_read",
              {std::move(name), std::move(owner), std::move(lease), note_of(request)}};
    case LockType::WRITE:
      return {
          "acquire_write",
          {std::move(name), std::move(owner), std::move(lease), std::move(wait), note_of(request)}};
    case LockType::FAIR:
      return {
          "acquire_fair",
          {std::move(name), std::move(owner), std::move(lease), std::move(wait), note_of(request)}};
    default:
      const std::uint32_t tokens = request.wants_token() ? request.tokens : 0;
      return {"acquire",
              {std::move(name), std::move(owner), std::string("x"), std::move(lease),
               std::to_string(tokens), note_of(request)}};
  }
}

Call call_of_several(const Request& request) {
  const bool fenced = gives_tokens(request);
  std::vector<std::string> ids;
  std::vector<std::string_view> modes, names, owners, fenced_names, fenced_owners;
  for (const Member& member : request.members) {
    const bool itself = member.type == LockType::FENCED && !fenced;
    modes.emplace_back(itself ? "f" : mode_of(member.type));
    names.push_back(member.key);
    ids.push_back(member.id.text());
  }
  for (const std::string& id : ids) owners.push_back(id);
  Call call{"acquire_all",
            {array_literal(modes), array_literal(names), array_literal(owners),
             milliseconds_text(request.lease), std::to_string(request.tokens)}};
  if (!fenced) return call;
  for (std::size_t index = 0; index < ids.size(); ++index) {
    if (!request.members[index].wants_token()) continue;
    fenced_names.push_back(names[index]);
    fenced_owners.push_back(owners[index]);
  }
  call.statement = "acquire_all_fenced";
  call.parameters.emplace_back(array_literal(fenced_names));
  call.parameters.emplace_back(array_literal(fenced_owners));
  return call;
}

}  // namespace

const char* mode_of(LockType type) noexcept {
  if (type == LockType::READ) return "r";
  if (type == LockType::PERMIT) return "p";
  return type == LockType::WRITE ? "w" : "x";
}

Call acquire_call(const Request& request) {
  return request.verb == Verb::acquire_all ? call_of_several(request) : call_of_one(request);
}

Outcome acquire_outcome(const Request& request, std::string_view reply) {
  if (reply == "o" && gives_tokens(request)) {
    return lacks_functions("fencing tokens of WRITE and FAIR");
  }
  Outcome outcome;
  const auto next = [&] {
    const std::size_t end = std::min(reply.find(' '), reply.size());
    const std::string_view word = reply.substr(0, end);
    reply.remove_prefix(std::min(end + 1, reply.size()));
    return word;
  };
  const std::string_view word = next();
  const std::optional<std::int64_t> number = exact_number_in(next());
  if (!number || (word != "g" && word != "b")) return malformed_outcome();
  if (word == "g") {
    if (*number < 0) return malformed_outcome();
    outcome.kind = Outcome::Kind::granted;
    outcome.token = static_cast<std::uint64_t>(*number);
    return outcome;
  }
  outcome.kind = Outcome::Kind::busy;
  outcome.retry_after = time_of(*number);
  if (request.verb == Verb::acquire_all) {
    const auto members = static_cast<std::int64_t>(request.members.size());
    const std::optional<std::int64_t> member = exact_number_in(next());
    if (!member || *member < 0 || *member >= members) return malformed_outcome();
    outcome.busy_member = static_cast<std::uint32_t>(*member);
  }
  outcome.holder = reply;
  if (outcome.holder == semaphore_owner) return refusal(key_is_a_semaphore);
  return outcome;
}

}  // namespace latchkey::inline v1::detail::postgresql
