// A backend made of three blocking functions: queues per key, driven by the waiting threads.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/simple_backend.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "backend/simple_loop.hpp"
#include "backend/simple_queue.hpp"

namespace latchkey::inline v1 {
namespace {

Outcome make(Outcome::Kind kind, std::string reason = {}) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.reason = std::move(reason);
  return outcome;
}

/// An outcome of this kind. Without memory for `reason` its reason is "out of memory".
Outcome make_failed(Outcome::Kind kind, const char* reason) noexcept {
  Outcome outcome;
  outcome.kind = kind;
  try {
    outcome.reason = reason;
  } catch (const std::bad_alloc&) {
    outcome.reason = "out of memory";  // short enough to need none
  }
  return outcome;
}

Outcome not_offered(const Request& request) {
  return make(Outcome::Kind::refused, std::string(to_string(request.verb)) + " is not offered");
}

}  // namespace

void SimpleBackend::Queue::add(Loop& loop) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(loops_, &loop) == loops_.end()) loops_.push_back(&loop);
  if (first_ready_ != nullptr) loop.notify_of_work();
}

void SimpleBackend::Queue::remove(Loop& loop) {
  const std::lock_guard lock(mutex_);
  const bool was_joined = std::erase(loops_, &loop) > 0;
  // The loop may have been told of work that it leaves to others.
  if (was_joined && first_ready_ != nullptr) wake_one();
}

SimpleBackend::Lane* SimpleBackend::Queue::take(Job& job, Loop& loop) {
  const std::lock_guard lock(mutex_);
  loop.clear();
  Lane* const lane = take_locked(job);
  if (first_ready_ != nullptr) loop.notify_of_work();
  return lane;
}

void SimpleBackend::Queue::wake_one() noexcept {
  parked_.wake_one();
  if (!loops_.empty()) loops_.front()->notify_of_work();
}

SimpleBackend::SimpleBackend(Clock& clock) : clock_(clock), queue_(std::make_unique<Queue>()) {}
SimpleBackend::~SimpleBackend() = default;

void SimpleBackend::submit(std::span<Request* const> requests, Sink& sink) {
  queue_->add(requests, sink);
}

void SimpleBackend::drive(Parker& parker, Clock::time_point until) {
  Job job{};
  detail::ParkedThreads::Waiter me{parker};
  Lane* lane = queue_->take_or_wait(job, me);
  if (lane == nullptr) {
    // No work until a request is submitted or another driver finishes with a key: both wake this
    // thread.
    const bool unparked = parker.park_until(clock_, until);
    queue_->leave(me);
    if (unparked) lane = queue_->take(job);
    if (lane == nullptr) return;
  }
  run(*lane, job);
}

void SimpleBackend::run(Lane& lane, const Job& job) noexcept {
  Outcome outcome = attempt(*job.request);
  // The lane continues first: the sink may take long.
  queue_->done(lane);
  job.sink->completed(*job.request, std::move(outcome));
}

std::unique_ptr<LoopDriver> SimpleBackend::make_loop_driver() {
  return std::make_unique<Loop>(*this);
}

void SimpleBackend::forget_parent() noexcept {
  queue_->drop_all();
  forked();
}

Outcome SimpleBackend::attempt(const Request& request) noexcept {
  try {
    return call(request);
  } catch (const Refused& refusal) {
    return make_failed(Outcome::Kind::refused, refusal.what());
  } catch (const BackendRefused& refusal) {
    return make_failed(Outcome::Kind::refused, refusal.what());
  } catch (const std::bad_alloc&) {
    return make_failed(Outcome::Kind::unknown, "out of memory");
  } catch (const std::exception& error) {
    return make_failed(Outcome::Kind::unknown, error.what());
  } catch (...) {
    return make_failed(Outcome::Kind::unknown,
                       "the backend threw something that is not a std::exception");
  }
}

Outcome SimpleBackend::call(const Request& request) {
  switch (request.verb) {
    case Verb::acquire: return acquire(request);
    case Verb::renew: return renew(request);
    case Verb::verify: return verify(request);
    case Verb::downgrade: return downgrade(request);
    case Verb::release: return release(request);
    case Verb::leave: return leave(request);
    case Verb::subscribe:
    case Verb::unsubscribe: return granted();  // no notification will follow: waiters poll
    case Verb::inspect: return inspect(request);
    case Verb::list: {
      const bool awaited = request.part != nullptr && request.part->awaited;
      return awaited ? not_offered(request) : list(request);
    }
    case Verb::force_release: return force_release(request);
    case Verb::expire:
    case Verb::resize:
    case Verb::revoke:
    case Verb::acquire_all:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: break;
  }
  return not_offered(request);
}

Outcome SimpleBackend::verify(const Request&) { return granted(); }
Outcome SimpleBackend::leave(const Request& request) { return release(request); }
Outcome SimpleBackend::downgrade(const Request& request) { return not_offered(request); }
Outcome SimpleBackend::inspect(const Request& request) { return not_offered(request); }
Outcome SimpleBackend::list(const Request& request) { return not_offered(request); }
Outcome SimpleBackend::force_release(const Request& request) { return not_offered(request); }

Outcome SimpleBackend::granted(std::uint64_t fencing_token) {
  Outcome outcome = make(Outcome::Kind::granted);
  outcome.token = fencing_token;
  return outcome;
}

Outcome SimpleBackend::granted_if(bool held) { return held ? granted() : gone(); }

Outcome SimpleBackend::busy(std::optional<std::chrono::milliseconds> retry_after,
                            std::string holder) {
  Outcome outcome = make(Outcome::Kind::busy);
  outcome.holder = std::move(holder);
  outcome.retry_after = retry_after;
  return outcome;
}

Outcome SimpleBackend::gone() { return make(Outcome::Kind::gone); }

}  // namespace latchkey::inline v1
