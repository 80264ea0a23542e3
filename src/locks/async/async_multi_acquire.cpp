// An acquire of several keys that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#include "locks/async/async_multi_acquire.hpp"

#include <utility>

#include "core/sanitizer_pause.hpp"
#include "core/thread_order.hpp"
#include "locks/async/access.hpp"
#include "locks/hold/multi_hold.hpp"
#include "locks/multi/member_report.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {

AsyncMultiAcquire::AsyncMultiAcquire(std::shared_ptr<const LockSet> set, const Attempt& attempt,
                                     Owner owner, AsyncObserver& observer)
    : set_(std::move(set)),
      attempt_(attempt),
      observer_(observer),
      parts_(set_->members().size()),
      steps_(*this, set_->members().size(), attempt.lease) {
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    const LockMember& lock = set_->members()[index];
    parts_[index].lock = &lock;
    parts_[index].space = &lock.space->space();
    parts_[index].owner = lock.owner.value_or(owner);
    parts_[index].space->require_offered(attempt.lease);
  }
  asked_ = now();
  until_ = attempt.wait.is_forever() ? Clock::never() : later(asked_, attempt.wait.length());
  grace_ = Call::grace_of(attempt.wait.length(), parts_.front().space->options().command_timeout);
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    parts_[index].report.asked = now_of(index);
  }
}

bool AsyncMultiAcquire::start() {
  const SanitizerPause pause;
  steps_.begin({.members = parts_.size(),
                .one_step = false,
                .forever = attempt_.wait.is_forever(),
                .asked = asked_,
                .until = until_});
  events_.fetch_add(one_event);
  return handle(one_event) == Progress::waits;
}

void AsyncMultiAcquire::cancel() {
  cancel_requested_.store(true);
  bring(one_event);
}

// --- events ---

void AsyncMultiAcquire::bring(Events event) noexcept {
  const SanitizerPause pause;
  if (events_.fetch_add(event) != 0) return;  // the thread that handles events sees it
  if (handle(event) == Progress::ended) observer_.ended();
}

AsyncMultiAcquire::Progress AsyncMultiAcquire::handle(Events brought) noexcept {
  while (brought != 0) {
    unanswered_ -= brought >> 32;
    if (advance() == Progress::ended) return Progress::ended;
    brought = events_.fetch_sub(brought) - brought;
  }
  return Progress::waits;
}

AsyncMultiAcquire::Progress AsyncMultiAcquire::advance() noexcept {
  while (unanswered_ == 0) {
    try {
      run_step();
    } catch (...) {
      failure_ = std::current_exception();
    }
    const bool done = failure_ || steps_.plan().step() == MultiAcquirePlan::Step::done;
    if (done && unanswered_ == 0) return Progress::ended;
  }
  const bool awaits = !failure_ && steps_.plan().step() == MultiAcquirePlan::Step::await;
  if (awaits && cancel_requested_.load()) parts_[steps_.plan().member()].call->cancel();
  return Progress::waits;
}

// Finishes the step whose calls have been answered, and starts the next one.
void AsyncMultiAcquire::run_step() {
  if (failure_) return;
  if (step_started_) steps_.finish();
  if (steps_.plan().step() == MultiAcquirePlan::Step::done) return;
  step_started_ = true;
  steps_.start();
}

// --- the result ---

std::optional<Hold> AsyncMultiAcquire::take() {
  const SanitizerPause pause;
  if (failure_) std::rethrow_exception(failure_);
  const Answer answer = steps_.plan().answer();
  report_outcome(parts_, steps_, attempt_);
  if (answer == Answer::busy) return std::nullopt;
  if (answer != Answer::granted) fail();
  steps_.unpin_all();
  MultiHold::Owned together = MultiHold::make(parts_.size(), [&](std::size_t member) {
    return parts_[member].space->without_prefix(set_->key_of(member));
  });
  for (std::size_t member = parts_.size(); member-- > 0;) {
    order_after_grant(parts_[member].lock->key, parts_[member].lock->type);
  }
  together->set_named_order(set_->places());
  for (std::size_t member = 0; member < parts_.size(); ++member) {
    RemoteHold& hold = *steps_.take(member);
    HoldTerms its = first_terms(parts_[member].lock->type, attempt_.lease, attempt_.fenced);
    its.detached = true;
    its.limit = parts_[member].space->driver().limit(hold, attempt_.lease);
    together->add(hold, its);
  }
  return HoldAccess::make(together.release(), {.type = parts_.front().lock->type,
                                               .watchdog = attempt_.lease.is_watchdog(),
                                               .detached = true});
}

void AsyncMultiAcquire::fail() {
  Part& part = parts_[steps_.plan().member()];
  KeyCall& call = part.call ? *part.call : part.call.emplace(*part.space, *this);
  call.fail(steps_.plan().answer(), part.lock->key, asked_);
}

// --- calls to one member ---

const Call* AsyncMultiAcquire::call_of(std::size_t member) const noexcept {
  const auto& call = parts_[member].call;
  return call ? &call->call() : nullptr;
}

// The plan has no such step: it takes the keys one by one.
void AsyncMultiAcquire::start_batch(const std::vector<std::size_t>& /*missing*/,
                                    Clock::time_point /*until*/) {}

void AsyncMultiAcquire::start_acquire(std::size_t member, Clock::time_point until) {
  Part& part = parts_[member];
  Attempt its = attempt_;
  its.type = part.lock->type;
  KeyCall& call = part.call.emplace(*part.space, *this);
  call.want(part.owner, its);
  call.want_for(part.report);
  call.limit(by_clock_of(*part.space, until), grace_);
  if (call.start_acquire(part.space->driver().place_of(part.lock->key))) ++unanswered_;
}

void AsyncMultiAcquire::start_extend(std::size_t member, RemoteHold& hold,
                                     std::chrono::milliseconds lease) {
  Part& part = parts_[member];
  const Clock::time_point end = by_clock_of(*part.space, later(until_, grace_));
  KeyCall& call = part.call.emplace(*part.space, *this);
  call.keep_to_limit();
  if (call.start_extend(hold, part.lock->type, lease, end)) ++unanswered_;
}

void AsyncMultiAcquire::start_release(std::size_t member, RemoteHold& hold) {
  const Part& part = parts_[member];
  const HoldTerms terms{
      .type = part.lock->type, .watchdog = attempt_.lease.is_watchdog(), .detached = true};
  DetachedRelease::start(*part.space, hold, terms, std::chrono::milliseconds(0));
}

void AsyncMultiAcquire::pin(std::size_t member, RemoteHold& hold) noexcept {
  parts_[member].space->driver().pin(hold);
}

void AsyncMultiAcquire::unpin(std::size_t member, RemoteHold& hold) noexcept {
  parts_[member].space->driver().unpin(hold);
}

// --- time ---

Clock::time_point AsyncMultiAcquire::by_clock_of(const LockSpace& space,
                                                 Clock::time_point at) const noexcept {
  return at == Clock::never() ? at : space.clock().now() + (at - now());
}

Clock::time_point AsyncMultiAcquire::now_of(std::size_t member) const noexcept {
  return parts_[member].space->clock().now();
}

}  // namespace latchkey::inline v1::detail
