// The decisions of a wait for a latch.
// SPDX-License-Identifier: BSL-1.0
#include "locks/latch/latch_wait.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "locks/coordinator/call.hpp"
#include "locks/coordinator/wait_times.hpp"

namespace latchkey::inline v1::detail {

LatchWait::LatchWait(Wait wait, const Settings& settings, Clock::time_point now) noexcept
    : settings_(settings),
      forever_(wait.is_forever()),
      grace_(Call::grace_of(wait.length(), settings.command_timeout)),
      deadline_(later(now, wait.length())),
      silent_since_(now) {
  read(now);
}

Clock::time_point LatchWait::end() const noexcept {
  if (!forever_) return deadline_;
  return trouble_.empty() ? Clock::never() : later(silent_since_, settings_.unavailable_after);
}

void LatchWait::read(Clock::time_point now) noexcept {
  step_ = Step::read;
  until_ = later(now, settings_.command_timeout);
  if (!forever_) until_ = std::min(until_, std::max(deadline_, later(now, grace_)));
}

void LatchWait::on_count(std::uint64_t count, Clock::time_point now) noexcept {
  trouble_.clear();
  silent_since_ = now;
  if (count != 0) return resume(now);
  step_ = Step::opened;
}

void LatchWait::on_no_answer(std::string reason, Clock::time_point now) noexcept {
  trouble_ = std::move(reason);
  resume(now);
}

void LatchWait::on_subscribed(Clock::time_point now) noexcept { read(now); }
void LatchWait::on_wake(Clock::time_point now) noexcept { read(now); }

void LatchWait::resume(Clock::time_point now) noexcept {
  const Clock::time_point end = this->end();
  if (now >= end) {
    step_ = trouble_.empty() ? Step::timed_out : Step::unavailable;
    return;
  }
  if (!std::exchange(subscribed_, true)) {
    step_ = Step::subscribe;
    until_ = std::min(end, later(now, settings_.command_timeout));
    return;
  }
  const PauseRange range = !trouble_.empty()  ? retry_poll
                           : settings_.pushes ? safety_poll
                                              : plain_poll;
  pause_ = range.next(pause_);
  step_ = Step::sleep;
  until_ = std::min(end, later(now, pause_));
}

}  // namespace latchkey::inline v1::detail
