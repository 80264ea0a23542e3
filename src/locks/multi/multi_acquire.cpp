// One blocking acquire of several locks.
// SPDX-License-Identifier: BSL-1.0
#include "locks/multi/multi_acquire.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "core/thread_order.hpp"
#include "locks/hold/multi_hold.hpp"
#include "locks/multi/member_report.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {

MultiAcquire::MultiAcquire(const LockSet& set, const Attempt& attempt, bool by_lock)
    : set_(set),
      attempt_(attempt),
      by_lock_(by_lock),
      parts_(set.members().size()),
      steps_(*this, set.members().size(), attempt.lease) {
  const Owner me = Owner::this_thread();
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    const LockMember& lock = set.members()[index];
    parts_[index].lock = &lock;
    parts_[index].space = &lock.space->space();
    parts_[index].owner = lock.owner.value_or(me);
    parts_[index].space->require_offered(attempt.lease);
  }
  asked_ = now();
  until_ = attempt.wait.is_forever() ? Clock::never() : later(asked_, attempt.wait.length());
  grace_ = Call::grace_of(attempt.wait.length(), parts_.front().space->options().command_timeout);
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    parts_[index].report.asked = now_of(index);
  }
}

Answer MultiAcquire::run() {
  const LockMember& first = *parts_.front().lock;
  parts_.front().space->refuse_if_cancelled(attempt_.cancel, first.key, first.type);
  steps_.begin({.members = parts_.size(),
                .one_step = in_one_step(),
                .forever = attempt_.wait.is_forever(),
                .asked = asked_,
                .until = until_});
  while (steps_.plan().step() != MultiAcquirePlan::Step::done) {
    steps_.start();
    wait_for_step();
    steps_.finish();
  }
  const Answer answer = steps_.plan().answer();
  report_outcome(parts_, steps_, attempt_);
  if (answer == Answer::granted) {
    steps_.unpin_all();
    for (const Part& part : parts_) order_after_grant(part.lock->key, part.lock->type);
  } else if (answer != Answer::busy) {
    fail();
  }
  return answer;
}

void MultiAcquire::wait_for_step() {
  switch (steps_.plan().step()) {
    case MultiAcquirePlan::Step::attempt: return;  // the batch has waited
    case MultiAcquirePlan::Step::await:
      return parts_[steps_.plan().member()].call->wait(attempt_.cancel);
    case MultiAcquirePlan::Step::fill:
      for (Part& part : parts_) {
        if (part.call) part.call->finish();
      }
      return;
    case MultiAcquirePlan::Step::give_back: return finish_releases();
    case MultiAcquirePlan::Step::done: return;
  }
}

// --- one request for several members ---

std::vector<BatchAcquire::Item> MultiAcquire::make_items(const std::vector<std::size_t>& members) {
  std::vector<BatchAcquire::Item> all;
  all.reserve(members.size());
  for (const std::size_t member : members) {
    Part& part = parts_[member];
    part.call.emplace(*part.space);
    all.push_back({&*part.call, part.lock->key, part.lock->type, part.owner, &part.report});
  }
  return all;
}

// Makes calls only to ask about their keys: each step replaces them by calls of its own.
bool MultiAcquire::in_one_step() {
  LockSpace* const space = parts_.front().space;
  return std::ranges::all_of(parts_, [&](const Part& part) { return part.space == space; }) &&
         BatchAcquire::is_possible(*space, make_items(steps_.missing()));
}

void MultiAcquire::start_batch(const std::vector<std::size_t>& missing, Clock::time_point until) {
  std::vector<BatchAcquire::Item> items = make_items(missing);
  try {
    BatchAcquire(*parts_.front().space, items, attempt_, grace_, by_lock_).run(until);
  } catch (...) {
    steps_.keep_granted();  // a key that was re-entered before the memory was used up
    throw;
  }
}

// --- calls to one member ---

const Call* MultiAcquire::call_of(std::size_t member) const noexcept {
  const auto& call = parts_[member].call;
  return call ? &call->call() : nullptr;
}

void MultiAcquire::start_acquire(std::size_t member, Clock::time_point until) {
  Part& part = parts_[member];
  Attempt its = attempt_;
  its.type = part.lock->type;
  BlockingCall& call = part.call.emplace(*part.space);
  call.want(part.owner, its);
  call.want_for(part.report);
  if (by_lock_) call.want_by_lock();
  call.limit(by_clock_of(*part.space, until), grace_);
  call.start_acquire(part.space->driver().place_of(part.lock->key));
}

void MultiAcquire::start_extend(std::size_t member, RemoteHold& hold,
                                std::chrono::milliseconds lease) {
  Part& part = parts_[member];
  BlockingCall& call = part.call.emplace(*part.space);
  call.keep_to_limit();
  call.start_extend(hold, part.lock->type, lease, by_clock_of(*part.space, end()));
}

// `part.call` stays as it is: its error may be thrown afterwards.
void MultiAcquire::start_release(std::size_t member, RemoteHold& hold) {
  Part& part = parts_[member];
  const LockMember& lock = *part.lock;
  BlockingCall& release = part.release.emplace(*part.space);
  if (by_lock_) {
    release.start_unlock(part.space->driver().place_of(lock.key), lock.type, part.owner);
  } else {
    release.start_release(hold, {lock.type, attempt_.lease.is_watchdog()},
                          std::chrono::milliseconds(0));
  }
}

void MultiAcquire::pin(std::size_t member, RemoteHold& hold) noexcept {
  parts_[member].space->driver().pin(hold);
}

void MultiAcquire::unpin(std::size_t member, RemoteHold& hold) noexcept {
  parts_[member].space->driver().unpin(hold);
}

// --- the end ---

void MultiAcquire::give_back() noexcept {
  steps_.give_back();
  finish_releases();
}

void MultiAcquire::finish_releases() noexcept {
  for (Part& part : parts_) {
    if (part.release) finish_release(part);
  }
}

void MultiAcquire::finish_release(Part& part) noexcept {
  part.release->finish(by_clock_of(*part.space, end()));
  const Answer answer = part.release->answer();
  const bool done = answer == Answer::granted || answer == Answer::lost ||
                    answer == Answer::pending;  // the timer thread sees to the release
  const LockMember& lock = *part.lock;
  Reporter& reporter = part.space->reporter();
  try {
    if (!done) part.release->fail(answer, lock.key, asked_);
  } catch (const LockError& error) {
    reporter.unlock_failed(error);
  } catch (const std::bad_alloc&) {
    reporter.error(Event::Kind::unlock_error, part.space->without_prefix(lock.key), lock.type,
                   "out of memory");
  }
  part.release.reset();
}

void MultiAcquire::fail() {
  Part& part = parts_[steps_.plan().member()];
  if (!part.call) part.call.emplace(*part.space);
  part.call->fail(steps_.plan().answer(), part.lock->key, asked_);
}

Hold MultiAcquire::take() {
  MultiHold::Owned together = MultiHold::make(parts_.size(), [&](std::size_t member) {
    return parts_[member].space->without_prefix(set_.key_of(member));
  });
  const HoldTerms terms{parts_.front().lock->type, attempt_.lease.is_watchdog()};
  together->set_named_order(set_.places());
  for (std::size_t member = 0; member < parts_.size(); ++member) {
    RemoteHold& hold = *steps_.take(member);
    HoldTerms its = first_terms(parts_[member].lock->type, attempt_.lease, attempt_.fenced);
    its.limit = parts_[member].space->driver().limit(hold, attempt_.lease);
    together->add(hold, its);
  }
  return Hold(together.release(), terms);
}

void MultiAcquire::keep() noexcept {
  for (std::size_t member = 0; member < parts_.size(); ++member) steps_.take(member);
}

// --- time ---

Clock::time_point MultiAcquire::by_clock_of(const LockSpace& space,
                                            Clock::time_point at) const noexcept {
  return at == Clock::never() ? at : space.clock().now() + (at - now());
}

Clock::time_point MultiAcquire::now() const noexcept { return now_of(0); }

Clock::time_point MultiAcquire::now_of(std::size_t member) const noexcept {
  return parts_[member].space->clock().now();
}

}  // namespace latchkey::inline v1::detail
