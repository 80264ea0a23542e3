// One call to a coordinator: what is wanted, and the event that brings it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/wait.hpp>

#include "core/thread_annotations.hpp"
#include "locks/coordinator/call.hpp"
#include "locks/space/error_context.hpp"
#include "locks/space/lifetime.hpp"
#include "locks/space/shard.hpp"

namespace latchkey::inline v1::detail {

class LockSpace;

/// The base of BlockingCall and AsyncCall: a call is described, and start… brings its event to the
/// key's coordinator. Each start… returns whether the call is still pending. It is started at most
/// once.
class StartedCall {
 public:
  StartedCall(const StartedCall&) = delete;
  StartedCall& operator=(const StartedCall&) = delete;

  // --- an acquire: what is wanted, how long it may take, and its start ---
  /// Throws std::invalid_argument for a lease that the backend does not offer.
  /// PERMIT: each acquire has an owner of its own.
  void want(Owner owner, const Attempt& attempt);
  /// Counts as lock() instead of as a Hold.
  void want_by_lock() noexcept { call_.by_lock = true; }
  /// The call is for one of several keys. `report` outlives it.
  void want_for(MemberReport& report) noexcept { call_.member = &report; }
  /// A LockTimeout shall name the holder.
  void want_holder_name() noexcept { call_.wants_holder_name = true; }
  /// The caller reports a timeout, see Call::leaves_report.
  void report_timeout_later() noexcept { call_.reports_timeout = true; }
  /// Sets the wait, which begins when the call is known not to be granted at once.
  void limit(Wait wait) noexcept;
  /// Limits one part of a longer wait to `until`, by the clock of the space; never: forever.
  /// `grace` is Call::grace.
  void limit(Clock::time_point until, std::chrono::milliseconds grace) noexcept;
  /// Limits the call to one attempt, by a request for several keys, within a longer wait.
  void limit_to_batch(std::chrono::milliseconds grace) noexcept;
  bool start_acquire(const KeyPlace& place);
  /// Starts the acquire for a caller that holds the mutexes of several keys, and has a parker
  /// already.
  bool start_acquire(Shard& shard, ShardLock& lock, const KeyPlace& place)
      LATCHKEY_REQUIRES(shard.mutex);

  // --- the other calls ---
  /// An extend goes as far as held_at_most allows, instead of not at all.
  void keep_to_limit() noexcept { call_.up_to_limit = true; }
  /// Without an answer at `until`, or within Options::command_timeout, it ends as unavailable.
  bool start_extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease,
                    Clock::time_point until = Clock::never());
  /// The key stays locked for `linger` longer. A thread that waits for it has a parker.
  bool start_release(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger);
  /// Nobody waits for the answer: the timer thread sees to the release.
  void release_without_waiting(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger);
  bool start_unlock(const KeyPlace& place, LockType type, Owner owner);

  /// Instead of a start: reports how an acquire of several keys ended, about the key at `place`.
  /// granted: with `hold`; otherwise `last`, if it is not null, knows of the holder or the reason.
  void report_member(const KeyPlace& place, Answer answer, RemoteHold* hold, const Call* last);

  /// Ends the wait of a pending acquire. On any thread.
  void cancel();

  [[nodiscard]] LockSpace& space() const noexcept { return space_; }
  [[nodiscard]] const Call& call() const noexcept { return call_; }
  [[nodiscard]] Answer answer() const noexcept { return call_.answer; }

  /// Throws the error that `answer` stands for, about `key`, which was asked for at `asked`.
  /// `context` as for throw_answer.
  [[noreturn]] void fail(Answer answer, std::string_view key, Clock::time_point asked,
                         const ErrorContext* context = nullptr);

 protected:
  explicit StartedCall(LockSpace& space) noexcept : space_(space) {}
  ~StartedCall() = default;

  /// Decides how the thread of a pending call sleeps until the next event of its call or, if no
  /// thread waits for it, when the timer thread brings that event.
  void plan_wait(Shard& shard) LATCHKEY_REQUIRES(shard.mutex);
  /// The space may be deleted once the call ends; see ReleaseGuard::drop_later.
  void drop_space_later() noexcept { guard_.drop_later(); }

  LockSpace& space_;
  Call call_;
  Shard* shard_ = nullptr;
  Coordinator* home_ = nullptr;  ///< valid while the call is pending, with the shard's mutex held
  Clock::time_point wake_at_ = Clock::never();  ///< when the call's thread brings the next tick
  bool pending_ = false;
  bool parks_ = false;  ///< the thread waits without driving: the call waits locally

 private:
  template <class Bring>
  bool bring(Shard& shard, ShardLock& lock, Coordinator& home, Bring&& event)
      LATCHKEY_REQUIRES(shard.mutex);
  void prepare_to_wait();
  [[nodiscard]] Clock::time_point begin_release(HoldTerms terms,
                                                std::chrono::milliseconds linger) noexcept;

  bool begins_late_ = false;  ///< the wait begins anew if the call is not granted at once
  ReleaseGuard guard_;
};

/// Makes the calling thread's parker, before a call is started that may have to wait: later there
/// may be no memory for it. Throws std::bad_alloc.
inline void require_parker() {
  if (Parker::mine_if_any() == nullptr) [[unlikely]] {
    static_cast<void>(Parker::mine());
  }
}

}  // namespace latchkey::inline v1::detail
