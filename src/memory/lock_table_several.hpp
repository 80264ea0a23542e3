// An acquire_all of keys in several lock tables.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "memory/lock_table.hpp"

namespace latchkey::inline v1::detail {

template <class TableOf>
void LockTable::acquire_all(const Request& request, Clock::time_point now, TableOf&& table_of,
                            Outcome& outcome) {
  const bool uncontended = std::ranges::all_of(request.members, [&](const Member& member) {
    const std::size_t hash = hash_of(member);
    return member.type != LockType::FENCED &&
           table_of(hash).records_.find(member.key, hash) == nullptr;
  });
  if (uncontended) {
    const Clock::time_point ends = later(now, request.lease);
    for (const Member& member : request.members) {
      const std::size_t hash = hash_of(member);
      LockRecord& record = table_of(hash).records_.insert(member.key, hash);
      record.hold(member.id, ends, 0, LockRecord::mode_of(member.type));
    }
    outcome.kind = Outcome::Kind::granted;
    return;
  }
  // The largest token of the members' holds; a new one, if a FENCED member has none.
  std::uint64_t token = 0, fresh = 0;
  for (std::size_t index = 0; index < request.members.size(); ++index) {
    const Member& member = request.members[index];
    const std::size_t hash = hash_of(member);
    LockTable& table = table_of(hash);
    if (table.blocks(member, hash, now, outcome)) {
      outcome.busy_member = static_cast<std::uint32_t>(index);
      return;
    }
    if (member.type != LockType::FENCED) continue;
    const std::uint64_t held = table.token_of(member, hash);
    token = std::max(token, held);
    const std::uint64_t next = table.next_token(request.tokens, now);
    if (held == 0) fresh = std::max(fresh, next);
  }
  if (fresh != 0) token = std::max(token + 1, fresh);
  for (const Member& member : request.members) {
    const std::size_t hash = hash_of(member);
    table_of(hash).take(member, hash, later(now, request.lease), token, now);
  }
  outcome.kind = Outcome::Kind::granted;
  outcome.token = token;
}

}  // namespace latchkey::inline v1::detail
