// The state of one key in the lock table. The rules of a semaphore are those of parts/permits.lua
// in lua/.
// SPDX-License-Identifier: BSL-1.0
#include "memory/lock_record.hpp"

#include <string>
#include <type_traits>
#include <utility>

#include "backend/refusals.hpp"

namespace latchkey::inline v1::detail {
namespace {

using Kind = Outcome::Kind;
using Mode = LockRecord::Mode;
using std::chrono::milliseconds;

bool concerns_a_hold(Verb verb) noexcept {
  switch (verb) {
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::expire:
    case Verb::release:
    case Verb::leave: return true;
    default: return false;
  }
}

void refuse(Outcome& outcome, std::string reason) {
  outcome.kind = Kind::refused;
  outcome.reason = std::move(reason);
}

void acquire_permits(LockRecord& record, const Request& request, Clock::time_point now,
                     Outcome& outcome) {
  if (record.total == 0) record.total = request.permits.total;
  const Clock::time_point ends = later(now, request.lease);
  const std::int64_t available = record.available();
  const auto left = [](std::int64_t free) {
    return static_cast<std::uint32_t>(std::max<std::int64_t>(free, 0));
  };
  const auto mine = std::ranges::find(record.holders, request.id, &LockRecord::Holder::id);
  if (mine != record.holders.end()) {
    mine->ends = std::max(mine->ends, ends);
    outcome.kind = Kind::granted;
    outcome.permits_left = left(available);
  } else if (record.total < request.permits.taken) {
    refuse(outcome, too_few_permits(request, record.total));
  } else if (available < request.permits.taken) {
    outcome.kind = Kind::busy;
    outcome.retry_after =
        std::max(milliseconds(1), std::chrono::ceil<milliseconds>(record.first_end - now));
  } else {
    record.hold(request.id, ends, 0, Mode::permits);
    record.holders.back().permits = request.permits.taken;
    outcome.kind = Kind::granted;
    outcome.permits_left = left(available - request.permits.taken);
  }
}

}  // namespace

void LockRecord::drop_ended(Clock::time_point now) noexcept {
  const auto ended = [now](const auto& entry) { return entry.ends <= now; };
  std::erase_if(holders, ended);
  std::erase_if(queue, ended);
  if (holders.empty()) mode = Mode::free;
  if (kept_for_writer <= now) kept_for_writer = Clock::time_point::min();
  if (processes_end <= now) processes.clear();
  if (processes.empty()) processes_end = Clock::never();
  first_end = is_kept_for_writer() ? kept_for_writer : Clock::never();
  first_end = std::min(first_end, processes_end);
  for (const Holder& holder : holders) first_end = std::min(first_end, holder.ends);
  for (const Place& place : queue) first_end = std::min(first_end, place.ends);
}

Clock::time_point LockRecord::last_end() const noexcept {
  Clock::time_point last = Clock::time_point::min();
  for (const Holder& holder : holders) last = std::max(last, holder.ends);
  return last;
}

void LockRecord::note_revocation(Clock::time_point now) noexcept {
  for (Holder& holder : holders) holder.revoked = now;
  revocation_ends = last_end();
}

void LockRecord::describe(Clock::time_point now, LockInfo& info) const {
  info.locked = !holders.empty();
  if (mode == Mode::read) info.type = LockType::READ;
  if (mode == Mode::write) info.type = LockType::WRITE;
  if (total != 0) {
    info.type = LockType::PERMIT;
    info.permits = PermitInfo{available(), total};
  }
  for (const Holder& holder : holders) {
    HolderInfo& its = info.holders.emplace_back();
    its.id = holder.id.text();
    if (holder.ends != Clock::never()) {
      its.left = std::chrono::ceil<std::chrono::milliseconds>(holder.ends - now);
    }
    if (holder.token != 0) info.fencing_token = holder.token;
    if (holder.revoked != Clock::time_point::min() && now < revocation_ends) {
      its.revoked = std::chrono::floor<milliseconds>(now - holder.revoked);
    }
  }
  for (const Place& place : queue) info.queue.push_back(place.id.text());
  info.subscribers = subscriptions.size();
}

void LockRecord::call_first(Clock::time_point now) noexcept {
  if (mode != Mode::free || queue.empty()) return;
  Clock::time_point& ends = queue.front().ends;
  ends = std::min(ends, later(now, called_wait));
  first_end = std::min(first_end, ends);
}

void LockRecord::enqueue(const Place& place) {
  queue.push_back(place);
  first_end = std::min(first_end, place.ends);
}

void LockRecord::reset() noexcept {
  mode = Mode::free;
  total = 0;
  first_end = Clock::never();
  kept_for_writer = Clock::time_point::min();
  processes_end = Clock::never();
  turn_ends = Clock::time_point::min();
  called_place = 0;
  revocation_ends = Clock::time_point::min();
  const auto empty = [](auto& list) {
    // A spare record keeps the usual capacity, not that of a rare crowd.
    if (list.capacity() > 64) {
      std::remove_reference_t<decltype(list)>().swap(list);
    } else {
      list.clear();
    }
  };
  empty(holders);
  empty(queue);
  empty(processes);
  empty(subscriptions);
}

std::int64_t LockRecord::available() const noexcept {
  std::int64_t free = total;
  for (const Holder& holder : holders) free -= holder.permits;
  return free;
}

// A request of a lock for a semaphore, or the reverse, is refused, and a hold of one is gone for
// the other. An inspect of a lock describes the semaphore.
void apply_to_semaphore(LockRecord& record, const Request& request, Clock::time_point now,
                        Outcome& outcome) {
  const bool of_semaphore = request.type == LockType::PERMIT;
  if (!of_semaphore && request.verb == Verb::inspect) {
    record.describe(now, *request.info);
    outcome.kind = Kind::granted;
    return;
  }
  if (!of_semaphore || record.is_lock()) {
    if (concerns_a_hold(request.verb)) {
      outcome.kind = Kind::gone;
    } else {
      refuse(outcome, of_semaphore ? key_is_a_lock : key_is_a_semaphore);
    }
    return;
  }
  const auto mine = std::ranges::find(record.holders, request.id, &LockRecord::Holder::id);
  const bool held = mine != record.holders.end();
  outcome.kind = held ? Kind::granted : Kind::gone;
  switch (request.verb) {
    case Verb::acquire: return acquire_permits(record, request, now, outcome);
    case Verb::renew:
      if (held) mine->ends = std::max(mine->ends, later(now, request.lease));
      return;
    case Verb::expire:
      if (held) mine->ends = std::min(mine->ends, later(now, request.lease));
      if (held) record.first_end = std::min(record.first_end, mine->ends);
      if (held) mine->outlives_process = true;
      return;
    case Verb::release:
    case Verb::leave:
      if (held) record.holders.erase(mine);
      if (record.holders.empty()) record.mode = Mode::free;
      return;
    case Verb::inspect:
      if (record.total != 0) record.describe(now, *request.info);
      outcome.kind = record.total != 0 ? Kind::granted : Kind::gone;
      return;
    case Verb::resize:
      record.total = request.permits.total;
      outcome.kind = Kind::granted;
      return;
    case Verb::force_release:
      outcome.kind = record.total != 0 ? Kind::granted : Kind::gone;
      record.holders.clear();
      record.mode = Mode::free;
      record.total = 0;
      return;
    case Verb::verify:
    case Verb::downgrade:
    case Verb::acquire_all:
    case Verb::subscribe:
    case Verb::unsubscribe:
    case Verb::revoke:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete:
    case Verb::list: return;
  }
}

}  // namespace latchkey::inline v1::detail
