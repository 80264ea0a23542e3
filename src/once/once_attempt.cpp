// One run of a OncePer: taking its instant, and marking it.
// SPDX-License-Identifier: BSL-1.0
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <latchkey/attempt.hpp>
#include <latchkey/error.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/owner.hpp>

#include "locks/event_kinds.hpp"
#include "locks/observed_calls.hpp"
#include "locks/observed_run.hpp"
#include "locks/space/error_context.hpp"
#include "once/once_job.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;
using Kind = Event::Kind;

namespace {

/// The origin of the lock of an instant. All have one template, which distinguishes them from other
/// locks.
Origin origin_of_lock(const Origin& caller) {
  return {.site = caller.site, .key_template = once_template};
}

}  // namespace

OnceAttempt::OnceAttempt(std::shared_ptr<const OnceJob> job, std::stop_token cancel,
                         const Origin& origin)
    : job_(std::move(job)), cancel_(std::move(cancel)), origin_(origin) {
  report_.instant = job_->schedule.instant_at(job_->now());
  key_ = once_key(job_->key, report_.instant);
  mark_lease_ = job_->mark_lease(report_.instant);
}

OnceAttempt::~OnceAttempt() {
  if (hold_) fail("its body threw");
}

// Each run has an owner of its own, or a thread would re-enter what it has run.
void OnceAttempt::take() {
  if (!begin()) return;
  Attempt attempt = this->attempt();
  observe(attempt);
  try {
    granted(job_->locks.with_owner(Owner::make()).acquire(key_, attempt));
  } catch (const LockTimeout& error) {
    if (observed_ != nullptr) observed_->not_acquired(std::current_exception(), attempt);
    busy(error);
  } catch (...) {
    if (observed_ != nullptr) observed_->not_acquired(std::current_exception(), attempt);
    throw;
  }
}

// Observers know the key and the template of the job, and not those of its lock.
void OnceAttempt::observe(Attempt& attempt) {
  const bool is_decorated = origin_.site != nullptr;
  if (!is_decorated || !calls_may_be_observed.load(std::memory_order_relaxed)) return;
  std::unique_ptr<CallObservation> observation = ObservedRun::begin(&job_->locks);
  if (observation == nullptr) return;
  observed_.reset(new (std::nothrow) ObservedRun(std::move(observation)));
  if (observed_ == nullptr) return;
  const Origin of_lock = std::exchange(attempt.origin, origin_);
  observed_->acquiring(job_->locks, job_->key, attempt);
  attempt.origin = of_lock;
}

bool OnceAttempt::begin() {
  began_ = job_->locks.clock().now();
  if (job_->schedule.is_in_time(report_.instant, job_->now())) return true;
  give_up();
  return false;
}

Attempt OnceAttempt::attempt() const {
  return {
      .type = LockType::REENTRANT,
      .wait = job_->schedule.wait_at_most(job_->wait, report_.instant, job_->now()),
      .lease = job_->on_failure == OnFailure::skip_instant ? Lease(mark_lease_) : Lease(watchdog),
      .cancel = cancel_,
      .origin = origin_of_lock(origin_)};
}

// The request may have been under way for long, or this process frozen: see OnceSchedule. A grant
// that came too late is given back.
void OnceAttempt::granted(Hold&& hold) {
  if (observed_ != nullptr) observed_->acquired(hold);
  if (!job_->schedule.is_in_time(report_.instant, job_->now())) {
    const Hold given_back = std::move(hold);
    if (observed_ != nullptr) observed_->body_ended(&given_back);
    return give_up();
  }
  hold_ = std::move(hold);
  report_.outcome = OnceOutcome::ran;
  if (observed_ != nullptr) observed_->enter_thread();
}

void OnceAttempt::busy(const LockTimeout& error) {
  report_.outcome = OnceOutcome::taken;
  report_.runner = error.holder();
  give_up();
}

void OnceAttempt::give_up() {
  publish(report_.outcome == OnceOutcome::late ? Kind::once_late : Kind::once_taken,
          report_.runner);
}

OnceRun OnceAttempt::run() const { return {report_.instant, hold_->stop_token(), *hold_}; }

void OnceAttempt::finish() {
  if (observed_ != nullptr) observed_->body_ended(&*hold_);
  try {
    mark();
  } catch (Error& error) {
    not_marked(error);
    throw;
  }
  marked();
}

void OnceAttempt::mark() {
  Mark how = how_to_mark();
  if (how == Mark::extend && !hold_->extend(mark_lease_)) how = Mark::retake;
  if (how != Mark::retake) return keep_mark();
  hold_ = job_->locks.with_owner(Owner::make()).try_acquire(key_, retake_attempt());
  if (hold_) keep_mark();
  throw_lost();
}

OnceAttempt::Mark OnceAttempt::how_to_mark() {
  const bool was_lost = hold_->lost();
  if (job_->on_failure == OnFailure::skip_instant) {
    // The lease has ended by itself if the body took longer than that: nobody can begin the instant
    // any more.
    const bool is_over = job_->locks.clock().now() - began_ >= job_->schedule.mark(report_.instant);
    if (was_lost && !is_over) throw_lost();
    return Mark::keep;
  }
  return was_lost ? Mark::retake : Mark::extend;
}

// A lock that was lost and that nobody else has is taken anew, to set the mark nevertheless.
Attempt OnceAttempt::retake_attempt() const {
  return {.type = LockType::REENTRANT,
          .wait = milliseconds(0),
          .lease = Lease(mark_lease_),
          .origin = origin_of_lock(origin_)};
}

void OnceAttempt::marked() noexcept {
  hold_.reset();
  publish(Kind::once_ran, {});
}

void OnceAttempt::not_marked(Error& error) noexcept {
  if (observed_ != nullptr && observed_->outcome != Kind::lost) observed_->unconfirmed();
  error.note_body_ran();
  hold_.reset();
  publish(Kind::once_failed, error.what());
}

/// Releases the hold; the key stays locked until the lease of the mark ends.
void OnceAttempt::keep_mark() noexcept {
  hold_->hold_for(mark_lease_);
  hold_.reset();
}

void OnceAttempt::throw_lost() {
  LockSite site{.key = key_,
                .backend = job_->locks.describe(),
                .body_ran = true,
                .prefix = job_->locks.options().prefix};
  ErrorContext{origin_of_lock(origin_), attempt().lease}.describe(site);
  throw LockLost(std::move(site));
}

void OnceAttempt::note_exception() noexcept {
  try {
    throw;
  } catch (Error& error) {
    error.note_body_ran();
    fail(error.what());
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("something that is not a std::exception");
  }
}

void OnceAttempt::fail(std::string_view why) noexcept {
  if (observed_ != nullptr) observed_->body_threw(&*hold_);
  if (job_->on_failure == OnFailure::skip_instant) keep_mark();
  hold_.reset();
  publish(Kind::once_failed, why);
}

void OnceAttempt::publish(Kind kind, std::string_view text) const noexcept {
  try {
    Event event;
    event.kind = kind;
    event.key = job_->key;
    event.origin = origin_;
    event.text = instant_text(report_.instant);
    if (event.kind == Kind::once_taken) event.holder = text;
    if (event.kind == Kind::once_failed) event.text += ": " + std::string(text);
    if (event.kind == Kind::once_ran) event.held = job_->locks.clock().now() - began_;
    job_->locks.publish(event);
  } catch (const std::exception&) {
    return;  // no memory for the event
  }
}

}  // namespace latchkey::inline v1::detail
