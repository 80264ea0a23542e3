// One blocking acquire of several locks.
// SPDX-License-Identifier: BSL-1.0
#include "locks/multi/multi_acquire.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "locks/multi/member_report.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

MultiAcquire::MultiAcquire(const LockSet& set, const Attempt& attempt, bool by_lock)
    : AcquireMembers(set, attempt, Owner::this_thread()),
      by_lock_(by_lock),
      releases_(set.members().size()),
      steps_(*this, set.members().size(), attempt.lease) {}

Answer MultiAcquire::run() {
  const LockMember& first = *parts_.front().lock;
  parts_.front().space->refuse_if_cancelled(attempt_.cancel, first.key, first.type);
  steps_.begin(plan_terms(in_one_step()));
  while (steps_.plan().step() != MultiAcquirePlan::Step::done) {
    steps_.start();
    wait_for_step();
    steps_.finish();
  }
  const Answer answer = steps_.plan().answer();
  report_outcome(parts_, steps_, attempt_);
  if (answer == Answer::granted) {
    steps_.unpin_all();
    order_after_grants();
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

void MultiAcquire::start_acquire(std::size_t member, Clock::time_point until) {
  Part& part = parts_[member];
  BlockingCall& call = make_acquire(part, until);
  if (by_lock_) call.want_by_lock();
  call.start_acquire(part.space->driver().place_of(part.lock->key));
}

void MultiAcquire::start_extend(std::size_t member, RemoteHold& hold,
                                std::chrono::milliseconds lease) {
  extend(parts_[member], hold, lease);
}

// The member's call stays as it is: its error may be thrown afterwards.
void MultiAcquire::start_release(std::size_t member, RemoteHold& hold) {
  Part& part = parts_[member];
  const LockMember& lock = *part.lock;
  BlockingCall& release = releases_[member].emplace(*part.space);
  if (by_lock_) {
    release.start_unlock(part.space->driver().place_of(lock.key), lock.type, part.owner);
  } else {
    release.start_release(hold, {lock.type, attempt_.lease.is_watchdog()},
                          std::chrono::milliseconds(0));
  }
}

// --- the end ---

void MultiAcquire::give_back() noexcept {
  steps_.give_back();
  finish_releases();
}

void MultiAcquire::finish_releases() noexcept {
  for (std::size_t member = 0; member < releases_.size(); ++member) {
    if (releases_[member]) finish_release(member);
  }
}

void MultiAcquire::finish_release(std::size_t member) noexcept {
  std::optional<BlockingCall>& release = releases_[member];
  const Part& part = parts_[member];
  release->finish(end_by_clock_of(*part.space));
  const Answer answer = release->answer();
  const bool done = answer == Answer::granted || answer == Answer::lost ||
                    answer == Answer::pending;  // the timer thread sees to the release
  const LockMember& lock = *part.lock;
  Reporter& reporter = part.space->reporter();
  try {
    if (!done) release->fail(answer, lock.key, asked_);
  } catch (const LockError& error) {
    reporter.unlock_failed(error);
  } catch (const std::bad_alloc&) {
    reporter.error(Event::Kind::unlock_error, part.space->without_prefix(lock.key), lock.type,
                   "out of memory");
  }
  release.reset();
}

void MultiAcquire::fail() {
  Part& part = parts_[steps_.plan().member()];
  if (!part.call) part.call.emplace(*part.space);
  part.call->fail(steps_.plan().answer(), part.lock->key, asked_);
}

Hold MultiAcquire::take() { return Hold(take_all(steps_, false).release(), terms_of_all(false)); }

void MultiAcquire::keep() noexcept {
  for (std::size_t member = 0; member < parts_.size(); ++member) steps_.take(member);
}

}  // namespace latchkey::inline v1::detail
