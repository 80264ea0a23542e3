// The steps of an acquire of several locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <latchkey/clock.hpp>
#include <latchkey/lease.hpp>

#include "locks/coordinator/call.hpp"
#include "locks/coordinator/remote_hold.hpp"
#include "locks/multi/multi_acquire_plan.hpp"

namespace latchkey::inline v1::detail {

/// Carries out a MultiAcquirePlan: the calls that each step starts, and what their answers mean for
/// the plan. `Host`, which is MultiAcquire or the simulator's caller, makes the calls and waits for
/// them between `start` and `finish`. Members have numbers:
///
///     Clock::time_point now() const;                  // of the clock of the plan
///     Clock::time_point now_of(std::size_t) const;    // of the member's clock
///     const Call* call_of(std::size_t) const;         // of this step; null: none
///     void forget_call(std::size_t);
///     void start_batch(const std::vector<std::size_t>& missing, Clock::time_point until);
///     void start_acquire(std::size_t, Clock::time_point until);
///     void start_extend(std::size_t, RemoteHold&, std::chrono::milliseconds lease);
///     void start_release(std::size_t, RemoteHold&);
///     void pin(std::size_t, RemoteHold&);             // renewed while others are awaited
///     void unpin(std::size_t, RemoteHold&);
template <class Host>
class MultiAcquireSteps {
 public:
  using Plan = MultiAcquirePlan;

  MultiAcquireSteps(Host& host, std::size_t members, Lease lease)
      : host_(host), lease_(lease), parts_(members) {}

  void begin(const Plan::Terms& terms) noexcept { plan_.emplace(terms); }
  [[nodiscard]] const Plan& plan() const noexcept { return *plan_; }

  // --- the plan's current step ---
  void start() {
    switch (plan_->step()) {
      case Plan::Step::attempt: return host_.start_batch(missing(), plan_->until());
      case Plan::Step::await: return host_.start_acquire(plan_->member(), plan_->until());
      case Plan::Step::fill: return start_fill();
      case Plan::Step::give_back: return give_back();
      case Plan::Step::done: return;
    }
  }
  /// The step's calls have ended, or were given up.
  void finish() {
    switch (plan_->step()) {
      case Plan::Step::attempt: return finish_attempt();
      case Plan::Step::await: return finish_await();
      case Plan::Step::fill: return finish_fill();
      case Plan::Step::give_back: return plan_->given_back();
      case Plan::Step::done: return;
    }
  }

  // --- what is held ---
  [[nodiscard]] RemoteHold* hold(std::size_t member) const noexcept { return parts_[member].hold; }
  [[nodiscard]] bool any_held() const noexcept {
    return std::ranges::any_of(parts_, [](const Part& part) { return part.hold != nullptr; });
  }
  [[nodiscard]] std::vector<std::size_t> missing() const {
    std::vector<std::size_t> all;
    all.reserve(parts_.size());
    for (std::size_t member = 0; member < parts_.size(); ++member) {
      if (parts_[member].hold == nullptr) all.push_back(member);
    }
    return all;
  }
  /// Makes what the calls of this step were granted a part of what is held.
  void keep_granted() noexcept {
    for (std::size_t member = 0; member < parts_.size(); ++member) {
      const Call* const call = host_.call_of(member);
      const bool granted = call != nullptr && call->answer == Answer::granted;
      if (!granted || parts_[member].hold != nullptr) continue;
      parts_[member].hold = call->hold;
      parts_[member].lacks_delay = call->lacks_delay;
    }
  }
  void unpin_all() {
    for (std::size_t member = 0; member < parts_.size(); ++member) unpin(member);
  }
  /// The hold is the host's from now on.
  RemoteHold* take(std::size_t member) noexcept {
    return std::exchange(parts_[member].hold, nullptr);
  }
  /// Starts the release of all that is held.
  void give_back() {
    for (std::size_t member = 0; member < parts_.size(); ++member) {
      if (parts_[member].hold == nullptr) continue;
      unpin(member);
      host_.start_release(member, *take(member));
    }
  }

 private:
  struct Part {
    RemoteHold* hold = nullptr;
    bool pinned = false;
    bool lacks_delay = false;  ///< Call::lacks_delay
  };

  // Gives the plan the answer of the member that was in the way. The other members were not granted
  // because of it, and know of no holder.
  void finish_attempt() {
    keep_granted();
    Answer answer = Answer::granted;
    std::size_t culprit = 0;
    bool known = false;
    for (std::size_t member = 0; member < parts_.size(); ++member) {
      const Call* const call = host_.call_of(member);
      if (parts_[member].hold != nullptr || call == nullptr) continue;
      if (call->answer == Answer::pending) continue;  // not asked for, since another was in the way
      const bool knows = call->answer != Answer::busy || !call->holder.empty();
      if (answer == Answer::granted || (knows && !known)) {
        answer = call->answer;
        culprit = member;
        known = knows;
      }
    }
    plan_->attempted(answer, culprit, host_.now());
  }

  void finish_await() {
    Part& part = parts_[plan_->member()];
    const Call& call = *host_.call_of(plan_->member());
    if (call.answer == Answer::granted) {
      part.hold = call.hold;
      part.pinned = true;
      host_.pin(plan_->member(), *part.hold);
    }
    plan_->awaited(call.answer, any_lost(), host_.now());
  }

  // Gives each member its full lease and lock_delay, all at the same time. A lease that has just
  // begun is full.
  void start_fill() {
    for (std::size_t member = 0; member < parts_.size(); ++member) host_.forget_call(member);
    for (std::size_t member = 0; member < parts_.size(); ++member) {
      if (needs_extension(member)) host_.start_extend(member, *parts_[member].hold, lease());
    }
  }

  void finish_fill() {
    Answer answer = Answer::granted;
    std::size_t culprit = 0;
    for (std::size_t member = parts_.size(); member-- > 0;) {
      const Call* const call = host_.call_of(member);
      Answer its = call == nullptr ? Answer::granted : call->answer;  // null: nothing was missing
      if (is_lost(member)) its = Answer::lost;
      if (its == Answer::granted) continue;
      answer = its;
      culprit = member;
    }
    plan_->filled(answer, culprit, host_.now());
  }

  [[nodiscard]] std::chrono::milliseconds lease() const noexcept {
    return limited_length(lease_, std::chrono::milliseconds(0));
  }
  [[nodiscard]] bool needs_extension(std::size_t member) const noexcept {
    if (parts_[member].lacks_delay) return true;
    if (lease_.is_watchdog()) return false;
    const Clock::duration left = parts_[member].hold->deadline_point() - host_.now_of(member);
    return left * 10 < Clock::duration(lease()) * 9;
  }
  [[nodiscard]] bool is_lost(std::size_t member) const noexcept {
    const RemoteHold* const held = parts_[member].hold;
    return held != nullptr && held->is_lost(host_.now_of(member));
  }
  [[nodiscard]] bool any_lost() const noexcept {
    for (std::size_t member = 0; member < parts_.size(); ++member) {
      if (is_lost(member)) return true;
    }
    return false;
  }
  void unpin(std::size_t member) {
    if (std::exchange(parts_[member].pinned, false)) host_.unpin(member, *parts_[member].hold);
  }

  Host& host_;
  Lease lease_;
  std::vector<Part> parts_;
  std::optional<Plan> plan_;
};

}  // namespace latchkey::inline v1::detail
