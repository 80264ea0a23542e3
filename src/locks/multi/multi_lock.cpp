// The functions of a Lock of several keys.
// SPDX-License-Identifier: BSL-1.0
#include "locks/multi/multi_lock.hpp"

#include <deque>

#include "locks/multi/lock_set.hpp"
#include "locks/multi/multi_acquire.hpp"
#include "locks/space/live_spaces.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {
namespace {

Attempt of_type(const Attempt& attempt, LockType type) {
  Attempt its = attempt;
  its.type = type;
  return its;
}

/// Counts the members among the calling thread's locks, and takes them off again unless they are
/// locked in the end.
class ThreadLockCount {
 public:
  explicit ThreadLockCount(const LockSet& set) : set_(set) {
    for (const LockMember& member : set_.members()) {
      if (!member.owner) ThreadLocks::taken(member.space->space());
    }
  }
  ThreadLockCount(const ThreadLockCount&) = delete;
  ThreadLockCount& operator=(const ThreadLockCount&) = delete;
  ~ThreadLockCount() {
    for (const LockMember& member : set_.members()) {
      if (!kept_ && !member.owner) ThreadLocks::given_back(member.space->space());
    }
  }
  void keep() noexcept { kept_ = true; }

 private:
  const LockSet& set_;
  bool kept_ = false;
};

}  // namespace

Hold acquire_together(const LockSet& set, const Attempt& attempt) {
  if (const auto members = set.members(); members.size() == 1) {
    const LockMember& one = members.front();
    LockSpace& space = one.space->space();
    return space.acquire(space.driver().place_of(one.key), one.owner.value_or(Owner::this_thread()),
                         of_type(attempt, one.type));
  }
  MultiAcquire call(set, attempt, false);
  if (call.run() != Answer::granted) call.fail();
  return call.take();
}

std::optional<Hold> try_acquire_together(const LockSet& set, const Attempt& attempt) {
  if (const auto members = set.members(); members.size() == 1) {
    const LockMember& one = members.front();
    LockSpace& space = one.space->space();
    return space.try_acquire(space.driver().place_of(one.key),
                             one.owner.value_or(Owner::this_thread()), of_type(attempt, one.type));
  }
  MultiAcquire call(set, attempt, false);
  if (call.run() != Answer::granted) return std::nullopt;
  return call.take();
}

bool lock_together(const LockSet& set, Wait wait) {
  ThreadLockCount count(set);
  Attempt attempt;
  attempt.wait = wait;
  attempt.lease = watchdog;
  MultiAcquire call(set, attempt, true);
  if (call.run() != Answer::granted) return false;
  call.keep();
  count.keep();
  return true;
}

bool unlock_together(const LockSet& set) {
  const Owner me = Owner::this_thread();
  std::deque<BlockingCall> calls;
  for (const LockMember& member : set.members()) {
    LockSpace& space = member.space->space();
    calls.emplace_back(space).start_unlock(space.driver().place_of(member.key), member.type,
                                           member.owner.value_or(me));
  }
  for (BlockingCall& call : calls) call.finish();
  bool all = true;
  const LockMember* failed = nullptr;
  BlockingCall* failure = nullptr;
  for (std::size_t index = 0; index < calls.size(); ++index) {
    const LockMember& member = set.members()[index];
    const Answer answer = calls[index].answer();
    if (answer != Answer::not_owner && !member.owner) {
      ThreadLocks::given_back(member.space->space());
    }
    if (answer == Answer::granted || answer == Answer::lost) {
      all = all && answer == Answer::granted;
    } else if (failure == nullptr) {
      failure = &calls[index];
      failed = &member;
    }
  }
  if (failure != nullptr) failure->fail(failure->answer(), failed->key, failure->call().asked);
  return all;
}

}  // namespace latchkey::inline v1::detail
