// A simulated thread that takes several keys at once.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <latchkey/owner.hpp>

#include "locks/multi/batch_steps.hpp"
#include "locks/multi/multi_acquire_steps.hpp"
#include "testing/simulator/callers/caller_context.hpp"

namespace latchkey::inline v1::sim {

/// Acquires all keys by the steps that MultiAcquire and BatchAcquire take, holds them for a while
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
  void cancel(std::uint64_t epoch);

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

  [[nodiscard]] bool idle() const noexcept { return stage_ == Stage::idle; }
  /// It has a call or a request for `key` under way.
  [[nodiscard]] bool acts_on(std::uint32_t key) const noexcept;

  // --- the host of MultiAcquireSteps ---
  [[nodiscard]] Clock::time_point now() const noexcept { return context_.clock.now(); }
  [[nodiscard]] Clock::time_point now_of(std::size_t) const noexcept { return now(); }
  [[nodiscard]] const Call* call_of(std::size_t member) const noexcept;
  void forget_call(std::size_t member) noexcept { keys_[member].call.reset(); }
  void start_batch(const std::vector<std::size_t>& missing, Clock::time_point until);
  void start_acquire(std::size_t member, Clock::time_point until);
  void start_extend(std::size_t member, RemoteHold& hold, milliseconds lease);
  void start_release(std::size_t member, RemoteHold& hold);
  static void pin(std::size_t /*member*/, RemoteHold& hold) { Coordinator::pin(hold); }
  void unpin(std::size_t member, RemoteHold& hold);

  // --- the host of BatchSteps ---
  const Call& start_claim(std::size_t item);
  void complete(std::size_t item, RemoteHold& claim, Outcome& outcome);
  void give_up(std::size_t item, RemoteHold& claim);
  bool answers_at_once(Request& request, Outcome& outcome);
  void submit(Request& request);

 private:
  using Steps = detail::MultiAcquireSteps<MultiKeyCaller>;
  using Plan = Steps::Plan;
  enum class Stage : std::uint8_t { idle, before_step, in_step, holding, releasing };

  static constexpr std::uint32_t most_keys = 16;
  /// The time a thread takes to continue. A server cannot lose its data and grant again within it.
  static constexpr std::chrono::microseconds reaction_time{2};

  /// One of its keys.
  struct Key {
    std::uint32_t key = 0;
    LockType type = LockType::REENTRANT;
    std::optional<Call> call;
    bool under_way = false;  ///< the call
    bool acquiring = false;  ///< the call acquires
    bool fenced = false;     ///< it asks for a fencing token
    std::uint64_t timer_epoch = 0;
  };

  /// One request for several keys.
  struct Batch {
    explicit Batch(std::vector<std::size_t> keys)
        : positions(std::move(keys)), claims(positions.size()) {}
    std::vector<std::size_t> positions;  ///< among the caller's keys
    detail::BatchClaims claims;
    Request request;
  };

  // --- the steps (multi_key_caller.cpp) ---
  void begin();
  void choose_keys();
  void start_step();
  void set_deadline(Clock::time_point end);
  void cancel_wait();
  void finish_acquire();
  void release();
  [[nodiscard]] bool waits() const noexcept;

  // --- calls and batches (multi_key_calls.cpp) ---
  Call& make_call(Key& key);
  template <class Bring>
  void bring(Key& key, Bring&& event);
  void call_woken(std::uint32_t position);
  void record_grant(Key& key);
  void leave_releases();
  bool answered_late(const Request& request, const Outcome& outcome);
  [[nodiscard]] bool owns(const GrantedHold& hold) const noexcept {
    return hold.client == context_.client && hold.owner == owner_.number();
  }

  CallerContext& context_;
  std::uint32_t index_;
  Owner owner_;
  Stage stage_ = Stage::idle;
  std::deque<Key> keys_;  // coordinators refer to their calls
  std::optional<Steps> steps_;
  Lease lease_ = watchdog;
  Clock::time_point until_{};
  milliseconds grace_{};                           // see Call::grace
  std::unique_ptr<Batch> batch_;                   // the last one
  std::vector<std::unique_ptr<Batch>> abandoned_;  // not answered yet
  bool batch_open_ = false;                        // its outcome is awaited
  std::uint64_t step_epoch_ = 0;
  std::uint64_t deadline_epoch_ = 0;
  std::uint64_t acquire_epoch_ = 0;
  bool cancelled_ = false;  ///< the acquire
};

}  // namespace latchkey::inline v1::sim
