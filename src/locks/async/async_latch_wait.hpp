// A wait for a latch that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>

#include <latchkey/clock.hpp>
#include <latchkey/wait.hpp>

#include "locks/async/async_observer.hpp"
#include "locks/latch/latch_wait.hpp"
#include "locks/latch/latch_waits.hpp"
#include "locks/space/direct_request.hpp"

namespace latchkey::inline v1::detail {

/// LatchWait decides; the timer thread carries out its steps. Whatever happens to the wait calls
/// the timer thread, so that no two threads run a step. Started at most once. It must not be
/// destroyed while it is pending.
class AsyncLatchWait final : public LatchWaits::Waiter {
 public:
  /// The key, with its prefix, must outlive it.
  AsyncLatchWait(LockSpace& space, std::string_view its_key, AsyncObserver& observer) noexcept
      : Waiter(its_key), space_(space), observer_(observer) {}

  /// The observer will be told of the end. Throws BackendUnavailable.
  void start(Wait length);
  /// Ends the wait. On any thread, after start has returned.
  void cancel() noexcept;
  /// Takes the result once, after the end. Throws what CountDownLatch::wait_for throws, and
  /// Cancelled.
  bool result();

  // --- by LatchWaits, on the timer thread ---
  /// True: it has ended.
  [[nodiscard]] bool advance() noexcept;
  /// When it is to be advanced again, if nothing happens before.
  [[nodiscard]] Clock::time_point due() const noexcept { return due_; }
  /// Drops the request: no thread and no backend is left for it.
  void drop() noexcept { request_.reset(); }
  void notify_ended() noexcept { observer_.ended(); }

  AsyncLatchWait* next_async = nullptr;  ///< in the list of LatchWaits

 private:
  void wake() noexcept override { space_waits().call_timer(); }
  [[nodiscard]] LatchWaits& space_waits() const noexcept;
  /// Runs the step of LatchWait. True: it is done, and LatchWait has decided on another one.
  [[nodiscard]] bool run_step();
  [[nodiscard]] bool is_over() const noexcept;
  /// Submits the request of the step if there is none. True: it was answered, or the step is over
  /// without an answer and `request_` is null.
  [[nodiscard]] bool is_request_over(Verb verb);
  void end() noexcept;

  LockSpace& space_;
  AsyncObserver& observer_;
  Clock::time_point began_{};
  Clock::time_point due_{};
  std::optional<LatchWait> wait_{};
  std::unique_ptr<DirectRequest> request_{};  ///< the step's request; null: none is under way
  bool listed_ = false;                       ///< among those that are woken
  std::exception_ptr failure_{};
  std::atomic<bool> cancelled_{false};
};

}  // namespace latchkey::inline v1::detail
