// Redisson's layout: which script carries out a request, and the order of its arguments.
// SPDX-License-Identifier: BSL-1.0
#include <cassert>

#include "redis/protocol/layout.hpp"
#include "redis/protocol/names.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using enum Word;
using std::chrono::milliseconds;

constexpr Call acquire(scripts::acquire, 1, {lock, lease, owner, tag, queues, sharded});
constexpr Call acquire_fair(scripts::acquire_fair, 3,
                            {lock, queue, timeouts, lease, owner, wait, plain_channel, sharded});
constexpr Call acquire_fair_fenced(scripts::acquire_fair, 4,
                                   {lock, queue, timeouts, token, lease, owner, wait, plain_channel,
                                    sharded, tokens});
constexpr Call acquire_fenced(scripts::acquire_fenced, 2,
                              {lock, token, lease, owner, tokens, tag, queues, sharded});
constexpr Call acquire_read(scripts::acquire_read, 2, {lock, reader, lease, owner, tag});
constexpr Call acquire_write(scripts::acquire_write, 1,
                             {lock, lease, writer, tag, wait, queues, sharded});
constexpr Call acquire_write_fenced(scripts::acquire_write, 2,
                                    {lock, token, lease, writer, tag, wait, queues, sharded,
                                     tokens});
constexpr Call renew(scripts::renew, 1, {lock, lease, owner});
constexpr Call renew_read(scripts::renew_read, 2, {lock, reader, lease, owner});
constexpr Call renew_write(scripts::renew, 1, {lock, lease, writer});
constexpr Call verify(scripts::verify, 1, {lock, owner});
constexpr Call verify_read(scripts::verify_read, 2, {lock, reader, owner});
constexpr Call verify_write(scripts::verify, 1, {lock, writer});
constexpr Call downgrade(scripts::downgrade, 2, {lock, reader, lease, owner, rw_channel, sharded});
constexpr Call expire(scripts::expire, 1, {lock, lease, owner});
constexpr Call expire_read(scripts::expire_read, 2, {lock, reader, lease, owner, tag});
constexpr Call expire_write(scripts::expire, 1, {lock, lease, writer});
constexpr Call idle(scripts::idle, 3,
                    {lock, queue, process_queue, lease, owner, plain_channel, rw_channel, sharded,
                     renews});
constexpr Call idle_read(scripts::idle, 4,
                         {lock, queue, process_queue, reader, lease, owner, plain_channel,
                          rw_channel, sharded, renews, tag});
constexpr Call idle_write(scripts::idle, 3,
                          {lock, queue, process_queue, lease, writer, plain_channel, rw_channel,
                           sharded, renews});
constexpr Call release(scripts::release, 1, {lock, owner, tag, sharded});
constexpr Call release_fair(scripts::release_fair, 3,
                            {lock, queue, timeouts, owner, plain_channel, sharded});
constexpr Call release_read(scripts::release_read, 2,
                            {lock, reader, owner, tag, rw_channel, sharded});
constexpr Call release_write(scripts::release_write, 1, {lock, writer, tag, sharded});
constexpr Call leave_queue(scripts::leave, 1, {lock, owner, tag, sharded});
constexpr Call leave_queue_write(scripts::leave, 1, {lock, writer, tag, sharded});
constexpr Call leave_write(scripts::release_read, 2,
                           {lock, reader, owner, tag, rw_channel, sharded, writer});
constexpr Call leave_fair(scripts::leave_fair, 3,
                          {lock, queue, timeouts, owner, plain_channel, sharded});
constexpr Call inspect(scripts::inspect, 4,
                       {lock, queue, timeouts, token, tag, plain_channel, rw_channel, sharded});
constexpr Call list(scripts::list, 0, {cursor, pattern});
constexpr Call list_page(scripts::list_page, 0, {cursor, pattern, budget});
constexpr Call list_awaited(scripts::list_awaited, 0,
                            {pattern, budget, plain_channels, rw_channels, sharded});
constexpr Call force_release(scripts::force_release, 3,
                             {lock, queue, timeouts, tag, plain_channel, rw_channel, sharded});

constexpr Call revoke(scripts::revoke, 1, {lock, revoke_channel, sharded, permits});

constexpr Call latch_set(scripts::latch_set, 1, {lock, count, latch_channel, sharded});
constexpr Call latch_down(scripts::latch_down, 1, {lock, latch_channel, sharded});
constexpr Call latch_count(scripts::latch_count, 1, {lock});
constexpr Call latch_delete(scripts::latch_delete, 1, {lock, latch_channel, sharded});

constexpr Call acquire_permits(scripts::acquire_permits, 2,
                               {lock, permits, lease, taken, total, permit, permit_channel, sharded,
                                queues});
constexpr Call renew_permits(scripts::renew_permits, 2,
                             {lock, permits, lease, taken, permit, permit_channel, sharded});
constexpr Call verify_permits(scripts::verify_permits, 2,
                              {lock, permits, taken, permit, permit_channel, sharded});
constexpr Call expire_permits(scripts::expire_permits, 2, {lock, permits, lease, taken, permit});
constexpr Call release_permits(scripts::release_permits, 2,
                               {lock, permits, taken, permit, permit_channel, sharded});
constexpr Call inspect_permits(scripts::inspect_permits, 2,
                               {lock, permits, permit_channel, sharded, revoke_channel});
constexpr Call resize_permits(scripts::resize_permits, 2,
                              {lock, permits, total, permit_channel, sharded});
constexpr Call destroy_permits(scripts::destroy_permits, 2,
                               {lock, permits, permit_channel, sharded});

/// The calls of one verb. `plain` is for REENTRANT and FENCED.
struct Calls {
  const Call* plain;
  const Call* fair;
  const Call* read;
  const Call* write;
  const Call* permits;

  [[nodiscard]] const Call& of(LockType type) const noexcept {
    switch (type) {
      case LockType::FAIR: return *fair;
      case LockType::READ: return *read;
      case LockType::WRITE: return *write;
      case LockType::PERMIT: return *permits;
      case LockType::REENTRANT:
      case LockType::FENCED: break;
    }
    return *plain;
  }
};

constexpr Calls acquires{&acquire, &acquire_fair, &acquire_read, &acquire_write, &acquire_permits};
constexpr Calls renewals{&renew, &renew, &renew_read, &renew_write, &renew_permits};
constexpr Calls checks{&verify, &verify, &verify_read, &verify_write, &verify_permits};
constexpr Calls expiries{&expire, &expire, &expire_read, &expire_write, &expire_permits};
/// Holds that nobody has at the moment (Request::recall).
constexpr Calls idlers{&idle, &idle, &idle_read, &idle_write, &expire_permits};
constexpr Calls releases{&release, &release_fair, &release_read, &release_write, &release_permits};
constexpr Calls leaves{&release, &leave_fair, &release_read, &leave_write, &release_permits};
constexpr Calls leaves_of_queue{&leave_queue, &leave_fair, &release_read, &leave_queue_write,
                                &release_permits};

const Call& list_for(const Request& request) noexcept {
  if (request.part == nullptr) return list;
  return request.part->awaited ? list_awaited : list_page;
}

const Call& acquire_for(const Request& request) noexcept {
  if (!request.wants_token()) return acquires.of(request.type);
  switch (request.type) {
    case LockType::FAIR: return acquire_fair_fenced;
    case LockType::WRITE: return acquire_write_fenced;
    default: return acquire_fenced;
  }
}

const Call& call_for(const Request& request) noexcept {
  const LockType type = request.type;
  if (request.recall) return idlers.of(type);
  switch (request.verb) {
    case Verb::acquire: return acquire_for(request);
    case Verb::renew: return renewals.of(type);
    case Verb::verify: return checks.of(type);
    case Verb::downgrade: return downgrade;
    case Verb::expire: return expiries.of(type);
    case Verb::release: return releases.of(type);
    case Verb::leave: return (request.queues ? leaves_of_queue : leaves).of(type);
    case Verb::inspect: return type == LockType::PERMIT ? inspect_permits : inspect;
    case Verb::list: return list_for(request);
    case Verb::force_release: return type == LockType::PERMIT ? destroy_permits : force_release;
    case Verb::resize: return resize_permits;
    case Verb::revoke: return revoke;
    case Verb::latch_set: return latch_set;
    case Verb::latch_down: return latch_down;
    case Verb::latch_count: return latch_count;
    case Verb::latch_delete: return latch_delete;
    case Verb::acquire_all:
    case Verb::subscribe:
    case Verb::unsubscribe: break;
  }
  assert(false && "the verb has a script");
  return verify;
}

/// Redisson's UUIDs have version 4, latchkey's have version 8.
bool is_redissons(std::string_view owner) noexcept {
  return owner.size() > 36 && owner[13] == '-' && owner[14] == '4';
}

/// Redisson publishes the release of a FAIR lock to the first in its queue only. The lock's hash
/// does not contain its type, so latchkey tries again after this time whenever a Redisson client
/// holds it.
constexpr milliseconds redisson_poll_interval{1'000};

std::optional<milliseconds> poll_interval(std::string_view holder) noexcept {
  if (is_redissons(holder)) return redisson_poll_interval;
  return std::nullopt;
}

constexpr std::string_view release_probe[] = {"HDEL", probe_key, ""};

}  // namespace

constexpr Layout redisson_layout{
    .call_for = &call_for,
    .acquire_all = &scripts::acquire_all,
    .check_batch = &scripts::check_batch,
    .announce = &scripts::announce,
    .owners = OwnerFormat::hold_id,
    .token_prefix = token_prefix,
    .channel_prefix = lock_channel_prefix,
    .rw_channel_prefix = rw_channel_prefix,
    .poll_interval = &poll_interval,
    .release_permission = "hdel",
    .release_probe = release_probe,
};

}  // namespace latchkey::inline v1::detail::redis
