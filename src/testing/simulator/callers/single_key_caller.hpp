// A simulated thread that uses one key at a time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <latchkey/owner.hpp>

#include "testing/simulator/callers/caller_context.hpp"

namespace latchkey::inline v1::sim {

/// Acquires, re-enters, extends, waits and releases at random.
class SingleKeyCaller {
 public:
  SingleKeyCaller(CallerContext& context, std::uint32_t index, Owner owner) noexcept
      : context_(context), index_(index), owner_(owner) {}

  [[nodiscard]] Owner owner() const noexcept { return owner_; }

  /// Takes its next step after `length`.
  void rest(Clock::duration length);

  // --- scheduled events, which an older epoch makes void ---
  void step(std::uint64_t epoch);
  void timer(std::uint64_t epoch);
  void cancel(std::uint64_t epoch);

  /// `call` was answered or has a new wake-up time. False if it is not this caller's.
  bool woken(const Call& call);

  // --- the end of its process: `stop` before the process is torn down, `forget` after it ---
  void stop() noexcept;
  void forget() noexcept { call_.reset(); }

  [[nodiscard]] bool idle() const noexcept { return operation_ == Operation::none; }
  /// It has an acquire of `key` under way that is not FAIR.
  [[nodiscard]] bool acquires(std::uint32_t key) const noexcept;
  /// Its acquire has left the local queue and sends requests.
  [[nodiscard]] bool has_claim() const noexcept { return call_->hold != nullptr; }

 private:
  enum class Operation : std::uint8_t { none, acquire, extend, release };

  void acquire_any();
  void use(const std::vector<GrantedHold>& mine);
  void acquire(LockType type, bool by_lock);
  void extend(const GrantedHold& hold);
  void release(const GrantedHold& chosen);
  void end_thread();
  void answered();
  void record_grant();

  Call& new_call(Operation operation);
  void set_timer();
  GrantedHold remove(const GrantedHold& hold);
  [[nodiscard]] std::vector<GrantedHold> holds_of_owner() const;
  /// Whether held_at_most may end what its owner holds.
  [[nodiscard]] bool has_limit() const;
  [[nodiscard]] GrantedHold last_locked(const GrantedHold& like) const;

  CallerContext& context_;
  std::uint32_t index_;
  Owner owner_;
  Operation operation_ = Operation::none;
  std::optional<Call> call_;
  std::uint32_t key_ = 0;
  std::uint64_t step_epoch_ = 0;
  std::uint64_t timer_epoch_ = 0;
  bool may_be_lost_ = true;           ///< the hold that it extends or releases has no watchdog
  bool observed_ = false;             ///< the call is among the observations
  bool release_unconfirmed_ = false;  ///< the outcome of its last release is unknown
};

}  // namespace latchkey::inline v1::sim
