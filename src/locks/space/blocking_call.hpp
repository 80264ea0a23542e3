// How one thread waits for one call.
#pragma once

#include <chrono>
#include <stop_token>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/wait.hpp>

#include "core/sanitizer_pause.hpp"
#include "core/thread_annotations.hpp"
#include "locks/coordinator/call.hpp"
#include "locks/space/error_context.hpp"
#include "locks/space/lifetime.hpp"
#include "locks/space/shard.hpp"

namespace latchkey::detail {

class LockSpace;

/// One call to a coordinator, in two halves: start… brings the event, wait or finish lends the
/// calling thread to the backend until the coordinator has answered. A thread that needs several
/// keys starts several calls, also in different spaces, before it waits for the first: their
/// requests are then under way together.
///
/// Started at most once. The destructor waits for a call that is still pending. Belongs to one
/// thread.
class BlockingCall {
 public:
  explicit BlockingCall(LockSpace& space) noexcept : space_(space) {}
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;
  ~BlockingCall() { finish(); }

  // --- an acquire: what is wanted, how long it may take, and its start ---
  void want(Owner owner, const Attempt& attempt) noexcept {
    call_.owner = owner;
    call_.type = attempt.type;
    call_.lease = attempt.lease;
    call_.reentry = attempt.reentry;
    call_.origin = attempt.origin;
  }
  /// Counts as lock() instead of as a Hold.
  void want_by_lock() noexcept { call_.by_lock = true; }
  /// A LockTimeout shall name the holder.
  void want_holder_name() noexcept { call_.wants_holder_name = true; }
  /// The wait begins when the call is known not to be granted at once.
  void limit(Wait wait) noexcept;
  /// Part of a longer wait; `grace` is Call::grace.
  void limit(Clock::time_point until, std::chrono::milliseconds grace) noexcept;
  /// One attempt, made by one request together with others.
  void limit_to_batch() noexcept;
  void start_acquire(const KeyPlace& place);
  /// The same for a caller that holds the mutexes of several keys, and has a parker already.
  void start_acquire(Shard& shard, ShardLock& lock, const KeyPlace& place)
      LATCHKEY_REQUIRES(shard.mutex);

  // --- the other calls ---
  /// Without an answer at `until` it ends as unavailable.
  void start_extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease,
                    Clock::time_point until = Clock::never());
  /// The key stays locked for `linger` longer. The thread has a parker.
  void start_release(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger);
  /// For a thread that cannot wait, because it has no memory for a parker: the timer thread sees to
  /// the release.
  void release_without_waiting(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger);
  void start_unlock(const KeyPlace& place, LockType type, Owner owner);

  // --- waiting ---
  /// Waits for the answer. Only right after start…, before this thread waits for anything else:
  /// that could use up the wake-up that is meant for this call.
  void wait() {
    if (pending_) sleep_until_answered(Clock::never());
  }
  void wait(const std::stop_token& cancel) {
    if (pending_) wait_or_cancel(cancel);
  }
  /// Waits at any time after start…. At `until` a release is given up: its answer stays pending,
  /// and the timer thread sees to it.
  void finish(Clock::time_point until = Clock::never()) {
    if (!pending_) return;
    check(until);
    sleep_until_answered(until);
  }

  /// In a batch: the answer to the one request.
  void complete(Shard& shard, ShardLock& lock, RemoteHold& claim, Outcome& outcome)
      LATCHKEY_REQUIRES(shard.mutex);
  /// In a batch: the one request was not answered in time.
  void give_up(Shard& shard, ShardLock& lock, RemoteHold& claim) LATCHKEY_REQUIRES(shard.mutex);

  [[nodiscard]] LockSpace& space() const noexcept { return space_; }
  [[nodiscard]] const Call& call() const noexcept { return call_; }
  [[nodiscard]] Answer answer() const noexcept { return call_.answer; }
  [[nodiscard]] bool pending() const noexcept { return pending_; }

  /// Throws the error that `answer` stands for, about `key`, which was asked for at `asked`.
  /// `context` as for throw_answer.
  [[noreturn]] void fail(Answer answer, std::string_view key, Clock::time_point asked,
                         const ErrorContext* context = nullptr);

 private:
  template <class Bring>
  void bring(Shard& shard, ShardLock& lock, Coordinator& home, Bring&& event)
      LATCHKEY_REQUIRES(shard.mutex);
  [[nodiscard]] Clock::time_point begin_release(HoldTerms terms,
                                                std::chrono::milliseconds linger) noexcept;
  void wait_or_cancel(const std::stop_token& cancel);
  void sleep_until_answered(Clock::time_point until);
  void plan_sleep();
  void check(Clock::time_point until);
  void cancel();

  [[no_unique_address]] SanitizerPause pause_;  // the first member: it covers all of the call
  LockSpace& space_;
  Call call_;
  Shard* shard_ = nullptr;
  Coordinator* home_ = nullptr;  ///< valid while the call is pending, with the shard's mutex held
  Clock::time_point wake_at_ = Clock::never();  ///< when this thread brings the next tick
  bool pending_ = false;
  bool parks_ = false;        ///< the thread waits without driving: the call waits locally
  bool begins_late_ = false;  ///< the wait begins anew if the call is not granted at once
  ReleaseGuard guard_;
};

/// Makes the calling thread's parker. Before a call is started that may have to wait: what a wait
/// needs must not be missing then. Throws std::bad_alloc.
inline void require_parker() {
  if (Parker::mine_if_any() == nullptr) [[unlikely]] {
    static_cast<void>(Parker::mine());
  }
}

}  // namespace latchkey::detail
