// An acquire of several keys that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>

#include "locks/async/async_call.hpp"
#include "locks/multi/acquire_members.hpp"
#include "locks/multi/lock_set.hpp"
#include "locks/multi/multi_acquire_steps.hpp"

namespace latchkey::inline v1::detail {

class AsyncMultiAcquire;

/// The call for one of the keys of an AsyncMultiAcquire.
class AsyncKeyCall final : public AsyncCall {
 public:
  AsyncKeyCall(LockSpace& space, AsyncMultiAcquire& whole) noexcept
      : AsyncCall(space), whole_(whole) {}

 private:
  void answered() noexcept override;

  AsyncMultiAcquire& whole_;
};

/// MultiAcquireSteps decides; this makes the calls to the members' coordinators. It takes the keys
/// one by one, in their order.
///
/// The answers arrive on any threads, and a cancellation as well. Each is an event; a thread that
/// brings one while no other is handled runs the steps, and handles those that arrive meanwhile. So
/// no mutex is held while a step calls a coordinator, and a thread that leaves its event to another
/// does not touch this object again.
///
/// Started at most once. It must not be destroyed while it is pending. Grants that nobody takes are
/// given back by the destructor.
class AsyncMultiAcquire : public AcquireMembers<AsyncKeyCall> {
 public:
  /// `set` and `attempt` must outlive this. `owner` is that of the members that have none.
  AsyncMultiAcquire(const LockSet& set, const Attempt& attempt, Owner owner,
                    AsyncObserver& observer);
  ~AsyncMultiAcquire() { steps_.give_back(); }

  /// These functions act as those of AsyncAcquire.
  bool start();
  void cancel();
  std::optional<Hold> take();
  [[noreturn]] void fail_busy() { fail(); }

  // --- the host of MultiAcquireSteps ---
  void start_batch(const std::vector<std::size_t>& missing, Clock::time_point until);
  void start_acquire(std::size_t member, Clock::time_point until);
  void start_extend(std::size_t member, RemoteHold& hold, std::chrono::milliseconds lease);
  void start_release(std::size_t member, RemoteHold& hold);

  /// A member's call has its answer. On any thread.
  void answered() noexcept { bring(one_answer); }

 private:
  enum class Progress : std::uint8_t { waits, ended };
  /// The lower half counts events, the upper half the answers among them.
  using Events = std::uint64_t;
  static constexpr Events one_event = 1;
  static constexpr Events one_answer = (Events{1} << 32) + one_event;

  void bring(Events event) noexcept;
  [[nodiscard]] Progress handle(Events brought) noexcept;
  [[nodiscard]] Progress advance() noexcept;
  void run_step();
  [[noreturn]] void fail();

  AsyncObserver& observer_;
  MultiAcquireSteps<AsyncMultiAcquire> steps_;
  // Only the thread that handles events uses these:
  std::size_t unanswered_ = 0;  ///< calls of the step
  bool step_started_ = false;
  std::exception_ptr failure_{};  ///< a step threw

  std::atomic<Events> events_{0};  ///< not handled yet, or being handled; above 0 after the end
  std::atomic<bool> cancel_requested_{false};
};

}  // namespace latchkey::inline v1::detail
