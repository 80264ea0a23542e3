// The claims and holds that one process has, or may have, of one key at the backend.
// SPDX-License-Identifier: BSL-1.0
#include "locks/coordinator/hold_table.hpp"

#include "core/thread_cache.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// Whether a local hold is left that the backend may still have.
bool is_held(const RemoteHold& hold) noexcept {
  const bool present = hold.at_backend().presence == RemoteHold::Presence::possible;
  return hold.stage == RemoteHold::Stage::held && hold.local_holds() > 0 && present;
}

}  // namespace

void HoldTable::clear() noexcept {
  while (RemoteHold* const hold = holds_.pop_front()) ThreadCache<RemoteHold>::give_back(*hold);
  held_.clear();
  end_plain();
  joinable_ = idle_ = nullptr;
  blockers_[0] = blockers_[1] = 0;
}

RemoteHold* HoldTable::live_hold_of(Owner owner, EventContext& event) const noexcept {
  for (RemoteHold* hold = held_.first(owner); hold != nullptr; hold = held_.next(*hold)) {
    if (!hold->is_lost(event.now())) return hold;
  }
  return nullptr;
}

const RemoteHold* HoldTable::find_blocker(LockType type, bool in_order,
                                          EventContext& event) const noexcept {
  for (const RemoteHold* hold = holds_.first(); hold != nullptr; hold = hold->next) {
    const bool both_read = is_shared(type) && is_shared(hold->type);
    if (both_read || hold->stage == Stage::claim) continue;
    // Its joiners are in the list, too.
    if (hold->joiners > 0 && hold->local_holds() == 0) continue;
    if (hold->stage == Stage::releasing) {
      if (hold->release.in_flight() && !in_order) return hold;
      continue;
    }
    if (!hold->is_lost(event.now())) return hold;
  }
  return nullptr;
}

bool HoldTable::any_held() const noexcept {
  for (const RemoteHold* hold = holds_.first(); hold != nullptr; hold = hold->next) {
    if (is_held(*hold)) return true;
  }
  return false;
}

bool HoldTable::any_releasing() const noexcept {
  for (const RemoteHold* hold = holds_.first(); hold != nullptr; hold = hold->next) {
    if (hold->stage == Stage::releasing && hold->release.in_flight()) return true;
  }
  return false;
}

bool HoldTable::any_unfinished() const noexcept {
  for (const RemoteHold* hold = holds_.first(); hold != nullptr; hold = hold->next) {
    if (hold->stage == Stage::releasing && hold->has_request_in_flight()) return true;
    if (is_held(*hold) && !hold->at_backend().is_left_to_expire()) return true;
  }
  return false;
}

void HoldTable::find_due() noexcept {
  due_ = Clock::never();
  for (const RemoteHold* hold = holds_.first(); hold != nullptr; hold = hold->next) {
    due_by(hold->due());
  }
}

}  // namespace latchkey::inline v1::detail
