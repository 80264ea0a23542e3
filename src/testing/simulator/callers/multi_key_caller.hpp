// A simulated thread that takes several keys at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <latchkey/owner.hpp>

#include "locks/multi/multi_acquire_plan.hpp"
#include "testing/simulator/callers/caller_context.hpp"

namespace latchkey::sim {

/// Carries out a MultiAcquirePlan as MultiAcquire and BatchAcquire do, holds all keys for a while
/// and releases them.
class MultiKeyCaller {
 public:
  MultiKeyCaller(CallerContext& context, std::uint32_t index, Owner owner) noexcept
      : context_(context), index_(index), owner_(owner) {}

  /// Takes its next step after `length`.
  void rest(Clock::duration length);

  // --- scheduled events, which an older epoch makes void ---
  void step(std::uint64_t epoch);
  void timer(std::uint32_t timer_index, std::uint64_t epoch);
  void deadline(std::uint64_t epoch);

  /// Which caller's timer a `timer_index` is.
  [[nodiscard]] static std::uint32_t caller_of(std::uint32_t timer_index) noexcept {
    return timer_index / most_keys;
  }

  /// `call` was answered or has a new wake-up time. False if it is not this caller's.
  bool woken(const Call& call);
  /// A request for several keys was answered. False if it is not this caller's.
  bool answered(const Request& request, const Outcome& outcome);

  // --- the end of its process: `stop` before the process is torn down, `forget` after it ---
  void stop();
  void forget() noexcept { keys_.clear(); }

  [[nodiscard]] bool idle() const noexcept { return !plan_; }
  /// It has a call or a request for `key` under way.
  [[nodiscard]] bool acts_on(std::uint32_t key) const noexcept;

 private:
  using Plan = detail::MultiAcquirePlan;
  enum class Operation : std::uint8_t { acquire, extend, release };

  static constexpr std::uint32_t most_keys = 16;
  /// The time a thread takes to continue. A server cannot lose its data and grant again within it.
  static constexpr std::chrono::microseconds reaction_time{2};

  /// One of its keys.
  struct Key {
    std::uint32_t key = 0;
    LockType type = LockType::REENTRANT;
    std::optional<Call> call;
    bool under_way = false;       ///< the call
    bool acquiring = false;       ///< the call acquires
    RemoteHold* claim = nullptr;  ///< part of the request for several keys
    RemoteHold* hold = nullptr;
    bool pinned = false;
    std::uint64_t timer_epoch = 0;
  };

  /// One request for several keys.
  struct Batch {
    Request request;
    std::vector<Member> members;
    std::vector<RemoteHold*> claims;
  };

  // --- the plan (multi_key_caller.cpp) ---
  void make_plan();
  void choose_keys();
  void start_step();
  void set_deadline();
  void finish_step();
  void finish_batch_step();
  void finish_fill();
  void finish_plan();
  [[nodiscard]] bool waits() const noexcept;

  // --- calls, one for each key (multi_key_calls.cpp) ---
  void start_call(Key& key, Operation operation);
  void extend_all();
  void release_all();
  void call_woken(std::uint32_t position);
  void record_grant(Key& key, bool pinned);
  void unpin(Key& key);

  // --- the request for several keys (multi_key_batch.cpp) ---
  void start_batch();
  bool claim_all();
  void submit_batch();
  void finish_batch(const Outcome& outcome);
  void abandon_batch();
  bool answered_late(const Request& request, const Outcome& outcome);

  CallerContext& context_;
  std::uint32_t index_;
  Owner owner_;
  std::optional<Plan> plan_;
  std::deque<Key> keys_;  // coordinators refer to their calls
  Lease lease_ = watchdog;
  Clock::time_point until_{};
  milliseconds grace_{};                           // see Call::grace
  std::unique_ptr<Batch> batch_;                   // the last one
  std::vector<std::unique_ptr<Batch>> abandoned_;  // not answered yet
  bool batch_open_ = false;                        // its outcome is awaited
  bool step_started_ = false;                      // a step of the plan is being carried out
  std::uint64_t step_epoch_ = 0;
  std::uint64_t deadline_epoch_ = 0;
};

}  // namespace latchkey::sim
