// The layout of SET NX PX: which script carries out a request, and the order of its arguments.
// SPDX-License-Identifier: BSL-1.0
#include <cassert>

#include <latchkey/hold_id.hpp>

#include "redis/protocol/layout.hpp"
#include "redis/protocol/names.hpp"

namespace latchkey::inline v1::detail::redis {
namespace set {
namespace {

using enum Word;
using std::chrono::milliseconds;

constexpr Call acquire(scripts::set_acquire, 1, {lock, lease, owner});
constexpr Call acquire_fenced(scripts::set_acquire_fenced, 2, {lock, token, lease, owner, tokens});
constexpr Call renew(scripts::set_renew, 1, {lock, lease, owner});
constexpr Call verify(scripts::set_verify, 1, {lock, owner});
constexpr Call expire(scripts::set_expire, 1, {lock, lease, owner});
constexpr Call release(scripts::set_release, 1, {lock, owner, plain_channel, sharded});
constexpr Call inspect(scripts::set_inspect, 2, {lock, token, tag, plain_channel, sharded});
constexpr Call list(scripts::set_list, 0, {cursor, pattern});
constexpr Call list_page(scripts::set_list_page, 0, {cursor, pattern, budget});
constexpr Call list_awaited(scripts::list_awaited, 0,
                            {pattern, budget, plain_channels, plain_channels, sharded});
constexpr Call force_release(scripts::set_force_release, 1, {lock, plain_channel, sharded});

const Call& list_for(const Request& request) noexcept {
  if (request.part == nullptr) return list;
  return request.part->awaited ? list_awaited : list_page;
}

const Call& call_for(const Request& request) noexcept {
  switch (request.verb) {
    case Verb::acquire: return request.wants_token() ? acquire_fenced : acquire;
    case Verb::renew: return renew;
    case Verb::verify: return verify;
    case Verb::expire: return expire;
    case Verb::release:
    case Verb::leave: return release;
    case Verb::inspect: return inspect;
    case Verb::list: return list_for(request);
    case Verb::force_release: return force_release;
    case Verb::acquire_all:
    case Verb::downgrade:
    case Verb::resize:
    case Verb::revoke:
    case Verb::subscribe:
    case Verb::unsubscribe:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: break;
  }
  assert(false && "the layout has a script for the verb");
  return verify;
}

/// Other libraries publish no message when they release. redlock-py tries again after 200 ms, too.
constexpr milliseconds foreign_poll_interval{200};

/// latchkey's UUIDs have version 8 (HoldId::new_space). Others write a UUID and a number, too.
bool is_own(std::string_view holder) noexcept {
  const std::optional<HoldId> id = HoldId::parse(holder);
  return id && (id->space[0] >> 12 & 0xF) == 8;
}

std::optional<milliseconds> interval_unless_own(std::string_view holder) noexcept {
  if (is_own(holder)) return std::nullopt;
  return foreign_poll_interval;
}

/// The holder may be a client of another library: the format does not tell.
std::optional<milliseconds> interval(std::string_view /*holder*/) noexcept {
  return foreign_poll_interval;
}

constexpr std::string_view release_probe[] = {"DEL", probe_key};

constexpr Layout layout(OwnerFormat owners) noexcept {
  return {
      .call_for = &call_for,
      .acquire_all = &scripts::set_acquire_all,
      .check_batch = &scripts::set_check_batch,
      .announce = &scripts::set_announce,
      .owners = owners,
      .token_prefix = set_token_prefix,
      .channel_prefix = set_channel_prefix,
      .rw_channel_prefix = {},
      .poll_interval = owners == OwnerFormat::hold_id ? &interval_unless_own : &interval,
      .release_permission = "del",
      .release_probe = release_probe,
  };
}

constexpr Layout hold_ids = layout(OwnerFormat::hold_id);
constexpr Layout redlock = layout(OwnerFormat::redlock);
constexpr Layout redsync = layout(OwnerFormat::redsync);

}  // namespace
}  // namespace set

const Layout& set_layout(OwnerFormat owners) noexcept {
  switch (owners) {
    case OwnerFormat::redlock: return set::redlock;
    case OwnerFormat::redsync: return set::redsync;
    case OwnerFormat::hold_id: break;
  }
  return set::hold_ids;
}

}  // namespace latchkey::inline v1::detail::redis
