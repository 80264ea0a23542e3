// One blocking acquire of several locks.
#include "locks/multi/multi_acquire.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "core/mutex.hpp"
#include "core/thread_order.hpp"
#include "locks/hold/multi_hold.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::detail {

MultiAcquire::MultiAcquire(const LockSet& set, const Attempt& attempt, bool by_lock)
    : set_(set), attempt_(attempt), by_lock_(by_lock), parts_(set.members().size()) {
  const Owner me = Owner::this_thread();
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    const LockMember& lock = set.members()[index];
    parts_[index].lock = &lock;
    parts_[index].space = &lock.space->space();
    parts_[index].owner = lock.owner.value_or(me);
  }
  asked_ = now();
  until_ = attempt.wait.is_forever() ? Clock::never() : later(asked_, attempt.wait.length());
  Call call;
  call.set_grace(attempt.wait.length(), parts_.front().space->options().command_timeout);
  grace_ = call.grace;
}

Answer MultiAcquire::run() {
  const LockMember& first = *parts_.front().lock;
  parts_.front().space->refuse_if_cancelled(attempt_.cancel, first.key, first.type);
  MultiAcquirePlan plan({.members = parts_.size(),
                         .one_step = in_one_step(),
                         .forever = attempt_.wait.is_forever(),
                         .asked = asked_,
                         .until = until_});
  while (plan.step() != MultiAcquirePlan::Step::done) carry_out(plan);
  culprit_ = plan.member();
  answer_ = plan.answer();
  if (answer_ == Answer::granted) {
    for (Part& part : parts_) {
      unpin(part);
      order_after_grant(part.lock->key, part.lock->type);
    }
  } else if (answer_ != Answer::busy) {
    fail();
  }
  return answer_;
}

bool MultiAcquire::in_one_step() {
  LockSpace* const space = parts_.front().space;
  return std::ranges::all_of(parts_, [&](const Part& part) { return part.space == space; }) &&
         BatchAcquire::is_possible(*space, missing());
}

void MultiAcquire::carry_out(MultiAcquirePlan& plan) {
  switch (plan.step()) {
    case MultiAcquirePlan::Step::attempt: return attempt(plan);
    case MultiAcquirePlan::Step::await: return await(plan);
    case MultiAcquirePlan::Step::fill: return fill(plan);
    case MultiAcquirePlan::Step::give_back: give_back(); return plan.given_back();
    case MultiAcquirePlan::Step::done: return;
  }
}

std::vector<BatchAcquire::Item> MultiAcquire::missing() {
  std::vector<BatchAcquire::Item> all;
  all.reserve(parts_.size());
  for (Part& part : parts_) {
    if (part.hold != nullptr) continue;
    part.call.emplace(*part.space);
    all.push_back({&*part.call, part.lock->key, part.lock->type, part.owner});
  }
  return all;
}

// Acquires everything that is not held, or nothing.
void MultiAcquire::attempt(MultiAcquirePlan& plan) {
  std::vector<BatchAcquire::Item> all = missing();
  BatchAcquire batch(*parts_.front().space, all, attempt_, by_lock_);
  batch.run(later(plan.until(), grace_));
  // Of several answers, the plan needs that of the member that was in the way: the others were not
  // granted because of it, and know of no holder.
  Answer answer = Answer::granted;
  std::size_t member = 0;
  bool known = false;
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    Part& part = parts_[index];
    if (part.hold != nullptr || !part.call) continue;
    const Call& call = part.call->call();
    if (call.answer == Answer::granted) {
      part.hold = call.hold;
      continue;
    }
    if (call.answer == Answer::pending) continue;  // not asked for, since another was in the way
    const bool knows = call.answer != Answer::busy || !call.holder.empty();
    if (answer == Answer::granted || (knows && !known)) {
      answer = call.answer;
      member = index;
      known = knows;
    }
  }
  plan.attempted(answer, member, now());
}

void MultiAcquire::await(MultiAcquirePlan& plan) {
  Part& part = parts_[plan.member()];
  Attempt its = attempt_;
  its.type = part.lock->type;
  BlockingCall& call = part.call.emplace(*part.space);
  call.want(part.owner, its);
  if (by_lock_) call.want_by_lock();
  call.limit(by_clock_of(*part.space, plan.until()), grace_);
  call.start_acquire(part.space->driver().place_of(part.lock->key));
  call.wait(attempt_.cancel);
  if (call.answer() == Answer::granted) {
    part.hold = call.call().hold;
    pin(part);
  }
  plan.awaited(call.answer(), any_lost(), now());
}

// Gives each member its full lease, all at the same time. A lease that has just begun is full.
void MultiAcquire::fill(MultiAcquirePlan& plan) {
  const auto lease = attempt_.lease.length(std::chrono::milliseconds(0));
  for (Part& part : parts_) {
    BlockingCall& call = part.call.emplace(*part.space);
    if (!needs_extension(part)) continue;
    call.start_extend(*part.hold, part.lock->type, lease, by_clock_of(*part.space, end()));
  }
  Answer answer = Answer::granted;
  std::size_t member = 0;
  for (std::size_t index = parts_.size(); index-- > 0;) {
    Part& part = parts_[index];
    part.call->finish();
    Answer its = part.call->answer();
    if (its == Answer::pending) its = Answer::granted;  // nothing was missing
    if (part.hold->is_lost(part.space->clock().now())) its = Answer::lost;
    if (its == Answer::granted) continue;
    answer = its;
    member = index;
  }
  plan.filled(answer, member, now());
}

bool MultiAcquire::needs_extension(const Part& part) const noexcept {
  if (attempt_.lease.is_watchdog()) return false;
  const auto lease = attempt_.lease.length(std::chrono::milliseconds(0));
  const Clock::duration left = part.hold->deadline_point() - part.space->clock().now();
  return left * 10 < Clock::duration(lease) * 9;
}

// A pinned hold is renewed until all members are held.
void MultiAcquire::pin(Part& part) noexcept {
  part.pinned = true;
  const ScopedLock lock(part.space->driver().shard_of(part.hold->home->hash).mutex);
  Coordinator::pin(*part.hold);
}

void MultiAcquire::unpin(Part& part) noexcept {
  if (!std::exchange(part.pinned, false)) return;
  const ScopedLock lock(part.space->driver().shard_of(part.hold->home->hash).mutex);
  Coordinator::unpin(*part.hold);
}

bool MultiAcquire::any_lost() const noexcept {
  return std::ranges::any_of(parts_, [](const Part& part) {
    return part.hold != nullptr && part.hold->is_lost(part.space->clock().now());
  });
}

void MultiAcquire::give_back() noexcept {
  for (Part& part : parts_) {
    if (part.hold != nullptr) start_release(part);
  }
  for (Part& part : parts_) {
    if (part.release) finish_release(part, asked_, by_clock_of(*part.space, end()));
  }
}

// `part.call` stays as it is: its error may be thrown afterwards.
void MultiAcquire::start_release(Part& part) {
  unpin(part);
  RemoteHold& held = *std::exchange(part.hold, nullptr);
  const LockMember& lock = *part.lock;
  BlockingCall& release = part.release.emplace(*part.space);
  if (by_lock_) {
    release.start_unlock(part.space->driver().place_of(lock.key), lock.type, part.owner);
  } else {
    release.start_release(held, {lock.type, attempt_.lease.is_watchdog()},
                          std::chrono::milliseconds(0));
  }
}

void MultiAcquire::finish_release(Part& part, Clock::time_point asked,
                                  Clock::time_point until) noexcept {
  part.release->finish(until);
  const Answer answer = part.release->answer();
  const bool done = answer == Answer::granted || answer == Answer::lost ||
                    answer == Answer::pending;  // the timer thread sees to the release
  const LockMember& lock = *part.lock;
  Reporter& reporter = part.space->reporter();
  try {
    if (!done) part.release->fail(answer, lock.key, asked);
  } catch (const LockError& error) {
    reporter.error(Event::Kind::unlock_error, lock.key, lock.type, error.what());
  } catch (const std::bad_alloc&) {
    reporter.error(Event::Kind::unlock_error, lock.key, lock.type, "out of memory");
  }
  part.release.reset();
}

void MultiAcquire::fail() {
  Part& part = parts_[culprit_];
  part.call->fail(answer_, part.lock->key, asked_);
}

Hold MultiAcquire::take() {
  auto together = std::make_unique<MultiHold>(set_.name(), parts_.size());
  const HoldTerms terms{parts_.front().lock->type, attempt_.lease.is_watchdog()};
  for (Part& part : parts_) {
    together->add({*std::exchange(part.hold, nullptr), {part.lock->type, terms.watchdog}});
  }
  return Hold(together.release(), terms);
}

Clock::time_point MultiAcquire::by_clock_of(const LockSpace& space,
                                            Clock::time_point at) const noexcept {
  return at == Clock::never() ? at : space.clock().now() + (at - now());
}

Clock::time_point MultiAcquire::now() const noexcept { return parts_.front().space->clock().now(); }

}  // namespace latchkey::detail
