// What a Lock of several keys does.
#include "locks/multi/multi_lock.hpp"

#include <deque>

#include "locks/multi/multi_acquire.hpp"
#include "locks/space/live_spaces.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::detail {
namespace {

Attempt of_type(const Attempt& attempt, LockType type) {
  Attempt its = attempt;
  its.type = type;
  return its;
}

/// Where a thread's locks are counted while it takes them: all, or after an exception none.
class Counted {
 public:
  explicit Counted(const LockSet& set) : set_(set) {
    for (const LockMember& member : set_.members()) {
      if (!member.owner) ThreadLocks::taken(member.space->space());
    }
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    for (const LockMember& member : set_.members()) {
      if (!locked_ && !member.owner) ThreadLocks::given_back(member.space->space());
    }
  }
  void locked() noexcept { locked_ = true; }

 private:
  const LockSet& set_;
  bool locked_ = false;
};

}  // namespace

Hold acquire_together(const LockSet& set, const Attempt& attempt) {
  if (const auto members = set.members(); members.size() == 1) {
    const LockMember& one = members.front();
    return one.space->space().acquire(one.key, one.owner.value_or(Owner::this_thread()),
                                      of_type(attempt, one.type));
  }
  MultiAcquire call(set, attempt, false);
  if (call.run() != Answer::granted) call.fail();
  return call.take();
}

std::optional<Hold> try_acquire_together(const LockSet& set, const Attempt& attempt) {
  if (const auto members = set.members(); members.size() == 1) {
    const LockMember& one = members.front();
    return one.space->space().try_acquire(one.key, one.owner.value_or(Owner::this_thread()),
                                          of_type(attempt, one.type));
  }
  MultiAcquire call(set, attempt, false);
  if (call.run() != Answer::granted) return std::nullopt;
  return call.take();
}

bool lock_together(const LockSet& set, Wait wait) {
  Counted counted(set);
  Attempt attempt;
  attempt.wait = wait;
  attempt.lease = watchdog;
  MultiAcquire call(set, attempt, true);
  if (call.run() != Answer::granted) return false;
  call.keep();
  counted.locked();
  return true;
}

bool unlock_together(const LockSet& set) {
  const Owner me = Owner::this_thread();
  std::deque<BlockingCall> calls;
  for (const LockMember& member : set.members()) {
    calls.emplace_back(member.space->space())
        .begin_unlock(member.key, member.type, member.owner.value_or(me));
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

}  // namespace latchkey::detail
