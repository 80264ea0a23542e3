// The members of one acquire of several locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lease.hpp>

#include "core/thread_order.hpp"
#include "locks/hold/multi_hold.hpp"
#include "locks/multi/lock_set.hpp"
#include "locks/multi/member_report.hpp"
#include "locks/multi/multi_acquire_plan.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {

/// The base of MultiAcquire and AsyncMultiAcquire: the members' calls to their coordinators, each a
/// `KeyCall`; their clocks; and the Hold at the end. The public functions are those of a host of
/// MultiAcquireSteps.
template <class KeyCall>
class AcquireMembers {
 public:
  AcquireMembers(const AcquireMembers&) = delete;
  AcquireMembers& operator=(const AcquireMembers&) = delete;

  /// By the clock of the first member, which is the plan's.
  [[nodiscard]] Clock::time_point now() const noexcept { return now_of(0); }
  [[nodiscard]] Clock::time_point now_of(std::size_t member) const noexcept {
    return parts_[member].space->clock().now();
  }
  [[nodiscard]] const Call* call_of(std::size_t member) const noexcept {
    const auto& call = parts_[member].call;
    return call ? &call->call() : nullptr;
  }
  void forget_call(std::size_t member) noexcept { parts_[member].call.reset(); }
  void pin(std::size_t member, RemoteHold& hold) noexcept {
    parts_[member].space->driver().pin(hold);
  }
  void unpin(std::size_t member, RemoteHold& hold) noexcept {
    parts_[member].space->driver().unpin(hold);
  }

 protected:
  /// One member, and the last acquire or extend of its lock.
  struct Part {
    const LockMember* lock = nullptr;
    LockSpace* space = nullptr;
    Owner owner = Owner::nobody();
    MemberReport report{};
    std::optional<KeyCall> call{};
  };

  /// `set` and `attempt` must outlive this. `owner` is that of the members that have none.
  AcquireMembers(const LockSet& set, const Attempt& attempt, Owner owner)
      : set_(set), attempt_(attempt), parts_(set.members().size()) {
    for (std::size_t index = 0; index < parts_.size(); ++index) {
      const LockMember& lock = set.members()[index];
      parts_[index].lock = &lock;
      parts_[index].space = &lock.space->space();
      parts_[index].owner = lock.owner.value_or(owner);
      parts_[index].space->require_offered(attempt.lease, lock.type);
    }
    asked_ = now();
    until_ = attempt.wait.is_forever() ? Clock::never() : later(asked_, attempt.wait.length());
    grace_ = Call::grace_of(attempt.wait.length(), parts_.front().space->options().command_timeout);
    for (std::size_t index = 0; index < parts_.size(); ++index) {
      parts_[index].report.asked = now_of(index);
    }
  }

  ~AcquireMembers() = default;

  [[nodiscard]] MultiAcquirePlan::Terms plan_terms(bool one_step) const noexcept {
    return {.members = parts_.size(),
            .one_step = one_step,
            .forever = attempt_.wait.is_forever(),
            .asked = asked_,
            .until = until_};
  }

  /// Makes the call of an acquire that ends at `until` of the plan's clock, from `arguments`.
  KeyCall& make_acquire(Part& part, Clock::time_point until, auto&... arguments) {
    Attempt its = attempt_;
    its.type = part.lock->type;
    KeyCall& call = part.call.emplace(*part.space, arguments...);
    call.want(part.owner, its);
    call.want_for(part.report);
    call.limit(by_clock_of(*part.space, until), grace_);
    return call;
  }
  bool extend(Part& part, RemoteHold& hold, std::chrono::milliseconds lease, auto&... arguments) {
    KeyCall& call = part.call.emplace(*part.space, arguments...);
    call.keep_to_limit();
    return call.start_extend(hold, part.lock->type, lease, end_by_clock_of(*part.space));
  }

  /// The holds of all members as one; `detached` from the thread. After `steps` were granted.
  [[nodiscard]] MultiHold::Owned take_all(auto& steps, bool detached) {
    MultiHold::Owned together = MultiHold::make(parts_.size(), [&](std::size_t member) {
      return parts_[member].space->without_prefix(set_.key_of(member));
    });
    together->set_named_order(set_.places());
    for (std::size_t member = 0; member < parts_.size(); ++member) {
      RemoteHold& hold = *steps.take(member);
      HoldTerms its = first_terms(parts_[member].lock->type, attempt_.lease, attempt_.fenced);
      its.detached = detached;
      its.limit = parts_[member].space->driver().limit(hold, attempt_.lease);
      together->add(hold, its);
    }
    return together;
  }
  [[nodiscard]] HoldTerms terms_of_all(bool detached) const noexcept {
    return {.type = parts_.front().lock->type,
            .watchdog = attempt_.lease.is_watchdog(),
            .detached = detached};
  }
  void order_after_grants() const noexcept {
    for (const Part& part : parts_) order_after_grant(part.lock->key, part.lock->type);
  }

  /// `at`, which is a time of the plan's clock, by the clock of `space`.
  [[nodiscard]] Clock::time_point by_clock_of(const LockSpace& space,
                                              Clock::time_point at) const noexcept {
    return at == Clock::never() ? at : space.clock().now() + (at - now());
  }
  /// The end of the wait and its grace, by the clock of `space`.
  [[nodiscard]] Clock::time_point end_by_clock_of(const LockSpace& space) const noexcept {
    return by_clock_of(space, later(until_, grace_));
  }

  const LockSet& set_;
  const Attempt& attempt_;
  std::vector<Part> parts_;
  Clock::time_point asked_;
  Clock::time_point until_;
  std::chrono::milliseconds grace_{};  ///< Call::grace
};

}  // namespace latchkey::inline v1::detail
