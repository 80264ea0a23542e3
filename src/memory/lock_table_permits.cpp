// Semaphores in the lock table: the rules of parts/permits.lua in lua/.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "backend/refusals.hpp"
#include "memory/lock_table.hpp"

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
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete:
    case Verb::list: return;
  }
}

}  // namespace latchkey::inline v1::detail
