// One of several calls of the same thread.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/owner.hpp>

#include "locks/call.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::detail {

/// A call to a coordinator in two halves, so that a thread can begin several, also in different
/// spaces, before it waits for the first: their requests are then under way together.
///
/// Begun once. What was begun is finished before this goes, and nothing else may be done with it in
/// between. Belongs to one thread.
class BlockingCall {
 public:
  explicit BlockingCall(LockSpace& space) noexcept : space_(&space) {}
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;
  ~BlockingCall() { finish(); }

  /// How long a call may last.
  struct Limit {
    Clock::time_point until;
    std::chrono::milliseconds grace;  ///< Call::grace
  };

  /// Acquires and waits.
  void acquire(std::string_view key, Owner owner, const Attempt& attempt, bool by_lock,
               const Limit& limit);

  /// It ends as unavailable where there is no answer until then.
  void begin_extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease,
                    Clock::time_point until = Clock::never());
  void begin_release(RemoteHold& hold, LockType type, bool watched,
                     std::chrono::milliseconds linger);
  void begin_unlock(std::string_view key, LockType type, Owner owner);

  /// Waits for the answer to what was begun. A release is left alone at `until`, and its answer
  /// stays pending.
  void finish(Clock::time_point until = Clock::never());

  /// Guards what the coordinator of `hold` knows of it.
  [[nodiscard]] SmallMutex& mutex_of(const RemoteHold& hold) noexcept {
    return space_->shard_of(hold.home->hash).mutex;
  }

  [[nodiscard]] Answer answer() const noexcept { return call_.answer; }
  [[nodiscard]] const Call& call() const noexcept { return call_; }

  /// Throws what `answer` means: `key` was asked for since `asked`; `asker` as for
  /// LockSpace::release.
  [[noreturn]] void fail(Answer answer, std::string_view key, Clock::time_point asked,
                         const Asker* asker = nullptr);

 private:
  friend class BatchAcquire;

  template <class Bring>
  void begin(ShardLock& lock, Coordinator& home, Bring&& bring);
  void begin_acquire(ShardLock& lock, Coordinator& home);
  void want(Owner owner, const Attempt& attempt, bool by_lock) noexcept;

  LockSpace* space_;
  Call call_;
  Shard* shard_ = nullptr;
  Coordinator* home_ = nullptr;  ///< valid while the call is pending, with the shard's mutex held
  bool pending_ = false;
  std::optional<LockSpace::ReleaseGuard> departure_;  ///< released: the space may go with the hold
};

}  // namespace latchkey::detail
