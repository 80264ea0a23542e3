// An acquire of several keys that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#include "locks/async/async_multi_acquire.hpp"

#include "core/sanitizer_pause.hpp"
#include "locks/async/access.hpp"
#include "locks/multi/member_report.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

AsyncMultiAcquire::AsyncMultiAcquire(const LockSet& set, const Attempt& attempt, Owner owner,
                                     AsyncObserver& observer)
    : AcquireMembers(set, attempt, owner),
      observer_(observer),
      steps_(*this, set.members().size(), attempt.lease) {}

bool AsyncMultiAcquire::start() {
  const SanitizerPause pause;
  steps_.begin(plan_terms(false));
  events_.fetch_add(one_event);
  return handle(one_event) == Progress::waits;
}

void AsyncMultiAcquire::cancel() {
  cancel_requested_.store(true);
  bring(one_event);
}

// --- events ---

void AsyncKeyCall::answered() noexcept { whole_.answered(); }

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
  MultiHold::Owned together = take_all(steps_, true);
  order_after_grants();
  return HoldAccess::make(together.release(), terms_of_all(true));
}

void AsyncMultiAcquire::fail() {
  Part& part = parts_[steps_.plan().member()];
  AsyncKeyCall& call = part.call ? *part.call : part.call.emplace(*part.space, *this);
  call.fail(steps_.plan().answer(), part.lock->key, asked_);
}

// --- calls to one member ---

// The plan has no such step: it takes the keys one by one.
void AsyncMultiAcquire::start_batch(const std::vector<std::size_t>& /*missing*/,
                                    Clock::time_point /*until*/) {}

void AsyncMultiAcquire::start_acquire(std::size_t member, Clock::time_point until) {
  Part& part = parts_[member];
  AsyncKeyCall& call = make_acquire(part, until, *this);
  if (call.start_acquire(part.space->driver().place_of(part.lock->key))) ++unanswered_;
}

void AsyncMultiAcquire::start_extend(std::size_t member, RemoteHold& hold,
                                     std::chrono::milliseconds lease) {
  if (extend(parts_[member], hold, lease, *this)) ++unanswered_;
}

void AsyncMultiAcquire::start_release(std::size_t member, RemoteHold& hold) {
  const Part& part = parts_[member];
  const HoldTerms terms{
      .type = part.lock->type, .watchdog = attempt_.lease.is_watchdog(), .detached = true};
  DetachedRelease::start(*part.space, hold, terms, std::chrono::milliseconds(0));
}

}  // namespace latchkey::inline v1::detail
