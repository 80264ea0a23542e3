// A wait for a latch that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#include "locks/async/async_latch_wait.hpp"

#include <new>
#include <utility>

#include <latchkey/error.hpp>

#include "core/sanitizer_pause.hpp"
#include "locks/latch/latch_calls.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

LatchWaits& AsyncLatchWait::space_waits() const noexcept { return space_.latch_waits(); }

void AsyncLatchWait::start(Wait length) {
  const SanitizerPause pause;
  began_ = space_.clock().now();
  wait_.emplace(length, space_waits().settings(), began_);
  space_waits().add(*this);
}

void AsyncLatchWait::cancel() noexcept {
  cancelled_.store(true);
  space_waits().call_timer();
}

bool AsyncLatchWait::result() {
  try {
    if (failure_) std::rethrow_exception(failure_);
    if (wait_->step() == LatchWait::Step::unavailable) {
      throw BackendUnavailable(site_of_latch(space_, key), wait_->trouble());
    }
    return end_latch_wait(space_, key, wait_->step() == LatchWait::Step::opened, began_);
  } catch (const LockError& error) {
    publish_failed_latch_wait(space_, key, error.what(), began_);
    throw;
  }
}

// Without memory for a step the wait ends with std::bad_alloc.
bool AsyncLatchWait::advance() noexcept {
  try {
    while (!is_over()) {
      if (cancelled_.load()) throw Cancelled(site_of_latch(space_, key));
      if (space_waits().is_closed()) throw Closed(site_of_latch(space_, key));
      due_ = wait_->until();
      if (!run_step()) return false;
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  end();
  return true;
}

bool AsyncLatchWait::is_over() const noexcept {
  using Step = LatchWait::Step;
  const Step step = wait_->step();
  return step == Step::opened || step == Step::timed_out || step == Step::unavailable;
}

bool AsyncLatchWait::run_step() {
  const Clock::time_point now = space_.clock().now();
  switch (wait_->step()) {
    case LatchWait::Step::read: {
      if (!is_request_over(Verb::latch_count)) return false;
      const auto request = std::exchange(request_, nullptr);
      if (request == nullptr) {
        wait_->on_no_answer("the server gave no answer", now);
      } else {
        space_waits().on_count_reply(*request, *wait_);
      }
      return true;
    }
    case LatchWait::Step::subscribe:
      if (!std::exchange(listed_, true)) space_waits().enter(*this);
      if (!is_request_over(Verb::subscribe)) return false;
      request_.reset();
      wait_->on_subscribed(now);
      return true;
    case LatchWait::Step::sleep:
      if (!space_waits().take_notification(*this) && now < due_) return false;
      wait_->on_wake(now);
      return true;
    default: return true;
  }
}

bool AsyncLatchWait::is_request_over(Verb verb) {
  if (request_ == nullptr) {
    request_ = make_latch_request(key, verb);
    space_waits().submit(*request_);
  }
  if (request_->answered()) return true;
  return space_.clock().now() >= due_ && space_.direct_requests().give_up(request_);
}

// The timer thread sends the request when it drives the backend next, which is at once.
void AsyncLatchWait::end() noexcept {
  if (request_ != nullptr) space_.direct_requests().abandon(std::move(request_));
  if (!listed_) return;
  if (auto request = space_waits().leave(*this)) {
    space_.direct_requests().abandon(std::move(request));
  }
}

}  // namespace latchkey::inline v1::detail
