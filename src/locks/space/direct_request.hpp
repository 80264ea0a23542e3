// Requests that no coordinator makes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>

#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/async/async_observer.hpp"

namespace latchkey::inline v1::detail {

class ShardDriver;

/// A request that a caller submits itself, such as inspect, list, acquire_all or those of latches.
/// Its null `context` tells it from a coordinator's. The caller waits for the outcome, or abandons
/// the request to its DirectRequests.
///
/// | stage     | whose it is                   | next                             |
/// |-----------|-------------------------------|----------------------------------|
/// | awaited   | the backend's; a caller waits | answered, abandoned              |
/// | answered  | the caller's                  |                                  |
/// | abandoned | the backend's                 | deleted when its outcome arrives |
struct DirectRequest : Request {
  DirectRequest() = default;
  DirectRequest(const DirectRequest&) = delete;
  DirectRequest& operator=(const DirectRequest&) = delete;
  virtual ~DirectRequest() = default;

  Parker* parker = nullptr;           ///< where the caller waits
  AsyncObserver* observer = nullptr;  ///< is told of the outcome if no thread waits for it
  Outcome outcome{};
  std::string own_key{};  ///< for `key`, if the caller's text may go before the request
  LockInfo own_info{};    ///< for `info`, if the caller's object may go before the request
  // In the list of abandoned requests:
  DirectRequest* previous_abandoned = nullptr;
  DirectRequest* next_abandoned = nullptr;

  [[nodiscard]] bool answered() const noexcept {
    return stage_.load(std::memory_order_acquire) == Stage::answered;
  }

  /// Called by any thread that drives the backend. False: the caller has abandoned the request.
  /// Otherwise the caller may destroy it as soon as it sees that it is answered.
  bool answer(Outcome&& what) noexcept {
    Parker* const sleeper = parker;
    AsyncObserver* const told = observer;
    outcome = std::move(what);
    if (stage_.exchange(Stage::answered, std::memory_order_acq_rel) == Stage::abandoned)
      return false;
    told != nullptr ? told->ended() : sleeper->unpark();
    return true;
  }

  /// Called by the submitter. False: the request was answered in the meantime.
  [[nodiscard]] bool abandon() noexcept {
    Stage expected = Stage::awaited;
    return stage_.compare_exchange_strong(expected, Stage::abandoned, std::memory_order_acq_rel);
  }

  /// The outcome arrived after the request was abandoned.
  virtual void answered_late() noexcept {}

 private:
  enum class Stage : std::uint8_t { awaited, answered, abandoned };
  std::atomic<Stage> stage_{Stage::awaited};
};

/// Submits direct requests of one space, waits for their outcomes, and owns those whose callers
/// wait no longer. Thread-safe.
class DirectRequests {
 public:
  DirectRequests(ShardDriver& driver, Clock& clock) noexcept : driver_(driver), clock_(clock) {}

  /// Submits `request` and waits for its outcome. False: there is none at `until`, and the request
  /// is abandoned.
  bool run(std::unique_ptr<DirectRequest>& request, Clock::time_point until);
  /// Submits `request`; `wait` or `abandon` is to follow.
  void start(DirectRequest& request);
  /// Submits all requests in one step and waits for the outcomes of all.
  void run_all(std::span<const std::unique_ptr<DirectRequest>> requests);
  /// Waits for the outcome of a request that was submitted already.
  [[nodiscard]] bool wait(const DirectRequest& request, Clock::time_point until);
  /// `request` was submitted, and its caller waits no longer.
  void abandon(std::unique_ptr<DirectRequest> request) noexcept;
  /// Abandons `request`, which was submitted. True: `request` is null. False: it was answered
  /// meanwhile and not abandoned, and has its outcome.
  [[nodiscard]] bool give_up(std::unique_ptr<DirectRequest>& request) noexcept;

  /// Called by the sink with each outcome.
  void completed(DirectRequest& request, Outcome&& outcome) noexcept;
  /// Deletes what was abandoned, once no backend is left that could answer.
  void drop_all() noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER { mutex_.unlock(); }

 private:
  void prepare(DirectRequest& request);
  void finish(DirectRequest& abandoned) noexcept;
  void take_out(DirectRequest& abandoned) noexcept;

  ShardDriver& driver_;
  Clock& clock_;
  SmallMutex mutex_;
  DirectRequest* abandoned_ LATCHKEY_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace latchkey::inline v1::detail
