// The claims and holds that one process has, or may have, of one key at the backend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <latchkey/clock.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#include "core/thread_cache.hpp"
#include "locks/coordinator/event_context.hpp"
#include "locks/coordinator/intrusive_list.hpp"
#include "locks/coordinator/owner_index.hpp"
#include "locks/coordinator/remote_hold.hpp"

namespace latchkey::inline v1::detail {

/// The claims and holds of one key, in the order in which they were made. A lookup by owner and the
/// question whether anything blocks a call take constant time on average.
class HoldTable {
 public:
  using Stage = RemoteHold::Stage;

  HoldTable() = default;
  HoldTable(const HoldTable&) = delete;
  HoldTable& operator=(const HoldTable&) = delete;
  ~HoldTable() { end_plain(); }

  [[nodiscard]] bool empty() const noexcept { return holds_.empty(); }
  /// Visits each hold; the visitor may erase any of them.
  template <class Visit>
  void for_each(Visit&& visit) {
    holds_.for_each(visit);
  }

  // --- changes ---
  void add_claim(RemoteHold& claim) noexcept { holds_.push_back(claim); }
  void set_held(RemoteHold& claim) noexcept {
    claim.stage = Stage::held;
    held_.insert(claim);
    ++blockers(claim);
  }
  void change_owner(RemoteHold& held, Owner owner) noexcept {
    held_.erase(held);
    held.owner = owner;
    held_.insert(held);
  }
  /// Lets READs of other owners join `held`, a READ that was just granted.
  void set_joinable(RemoteHold& held) noexcept { joinable_ = &held; }
  void end_joining(const RemoteHold& hold) noexcept {
    if (joinable_ == &hold) joinable_ = nullptr;
  }
  void set_retained(RemoteHold& hold) noexcept {
    end_joining(hold);
    held_.erase(hold);
    hold.stage = Stage::retained;
    hold.owner = Owner::nobody();
  }
  /// Nobody has `hold` until the next call takes it.
  void set_idle(RemoteHold& hold) noexcept {
    end_joining(hold);
    held_.erase(hold);
    hold.stage = Stage::idle;
    idle_ = &hold;
  }
  void set_held_again(RemoteHold& idle, Owner owner) noexcept {
    idle_ = nullptr;
    idle.stage = Stage::held;
    idle.owner = owner;
    held_.insert(idle);
  }
  void set_releasing(RemoteHold& hold) noexcept {
    end_joining(hold);
    if (idle_ == &hold) idle_ = nullptr;
    if (hold.stage == Stage::claim) ++blockers(hold);
    if (hold.stage == Stage::held) held_.erase(hold);
    hold.stage = Stage::releasing;
  }
  /// Makes a READ of a WRITE that is held, retained or being released.
  void set_read(RemoteHold& hold) noexcept {
    --blockers(hold);
    hold.type = LockType::READ;
    ++blockers(hold);
  }
  /// Gives a hold in stage `held` back to the pool.
  void erase_held(RemoteHold& hold) noexcept {
    end_joining(hold);
    held_.erase(hold);
    erase(hold);
  }
  /// Gives a hold that is being released back to the pool.
  void erase(RemoteHold& hold) noexcept {
    if (plain_ == &hold) plain_ = nullptr;
    --blockers(hold);
    holds_.remove(hold);
    ThreadCache<RemoteHold>::give_back(hold);
  }
  void clear() noexcept;

  // --- for RepeatedHold ---
  /// The only hold is plain from now on.
  void set_plain(RemoteHold& held) noexcept { plain_ = &held; }
  [[nodiscard]] RemoteHold* plain() const noexcept { return plain_; }
  /// Takes the plain hold out of the table, and keeps it for the next acquire.
  void set_aside(RemoteHold& plain) noexcept {
    held_.erase(plain);
    --blockers(plain);
    holds_.remove(plain);
    spare_ = std::exchange(plain_, nullptr);
  }
  /// The hold that was set aside; null: none.
  [[nodiscard]] RemoteHold* spare() const noexcept { return spare_; }
  [[nodiscard]] RemoteHold* take_spare() noexcept { return std::exchange(spare_, nullptr); }
  /// None is plain or set aside.
  void end_plain() noexcept {
    plain_ = nullptr;
    if (spare_ != nullptr) ThreadCache<RemoteHold>::give_back(*take_spare());
  }

  // --- questions ---
  /// The first hold of `owner` in stage `held`, lost or not; next_of_owner has the others. Null:
  /// none.
  [[nodiscard]] RemoteHold* held_by(Owner owner) const noexcept { return held_.first(owner); }
  [[nodiscard]] static RemoteHold* next_of_owner(const RemoteHold& hold) noexcept {
    return OwnerIndex<RemoteHold>::next(hold);
  }
  /// The hold in stage `idle`; null: none.
  [[nodiscard]] RemoteHold* idle() const noexcept { return idle_; }
  /// The READ that was granted last, in stage `held`; null: none.
  [[nodiscard]] RemoteHold* joinable() const noexcept { return joinable_; }
  [[nodiscard]] RemoteHold* live_hold_of(Owner owner, EventContext& event) const noexcept;
  /// A hold of this process that a call of `type` must wait for, at most until its deadline; null:
  /// none. `in_order`: an acquire that is sent after a release finds the lock free.
  [[nodiscard]] const RemoteHold* blocker_of(LockType type, bool in_order,
                                             EventContext& event) const noexcept {
    const bool any = blockers_[0] != 0 || (!is_shared(type) && blockers_[1] != 0);
    return any ? find_blocker(type, in_order, event) : nullptr;
  }
  [[nodiscard]] bool contains_only(const RemoteHold& hold) const noexcept {
    return holds_.first() == &hold && hold.next == nullptr;
  }
  /// Whether a local hold is left that the backend may still have.
  [[nodiscard]] bool any_held() const noexcept;
  /// Whether a release awaits its reply.
  [[nodiscard]] bool any_releasing() const noexcept;
  /// Whether anything is held that the backend is to release, or a hold that is being released
  /// awaits a reply.
  [[nodiscard]] bool any_unfinished() const noexcept;

  // --- due times ---
  /// No hold needs a tick before this. A due time that moved away is found by the next tick.
  [[nodiscard]] Clock::time_point due() const noexcept { return due_; }
  void due_by(Clock::time_point at) noexcept { due_ = std::min(due_, at); }
  void find_due() noexcept;
  void reset_due() noexcept { due_ = Clock::never(); }

 private:
  [[nodiscard]] const RemoteHold* find_blocker(LockType type, bool in_order,
                                               EventContext& event) const noexcept;
  [[nodiscard]] std::uint32_t& blockers(const RemoteHold& hold) noexcept {
    return blockers_[is_shared(hold.type) ? 1 : 0];
  }

  IntrusiveList<RemoteHold> holds_;
  OwnerIndex<RemoteHold> held_;  ///< those in stage `held`
  RemoteHold* joinable_ = nullptr;
  RemoteHold* idle_ = nullptr;
  RemoteHold* plain_ = nullptr;         ///< in stage `held`
  RemoteHold* spare_ = nullptr;         ///< not among `holds_`
  std::uint32_t blockers_[2] = {0, 0};  ///< how many are not claims: exclusive, shared
  Clock::time_point due_ = Clock::never();
};

}  // namespace latchkey::inline v1::detail
