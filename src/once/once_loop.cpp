// When OncePer::run_until runs its body.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/once_loop.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/listener.hpp>

#include "locks/backoff.hpp"
#include "once/once_job.hpp"

namespace latchkey::inline v1::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds shortest_pause = 1s, longest_pause = 1min;
/// A wall clock that is set meanwhile is noticed after this time.
constexpr std::chrono::milliseconds longest_sleep = 1min;

}  // namespace

struct OnceLoopState {
  OnceLoopState(std::shared_ptr<const OnceJob> its_job, std::stop_token its_stop)
      : job(std::move(its_job)),
        stop(std::move(its_stop)),
        pauses(shortest_pause, longest_pause,
               static_cast<std::uint64_t>(job->locks.clock().now().time_since_epoch().count())) {}

  [[nodiscard]] Clock& clock() const noexcept { return job->locks.clock(); }
  /// When the next run is due if nothing changes; a time in the past: now.
  [[nodiscard]] Clock::time_point due() const;
  void tell(std::string_view why) const noexcept;

  const std::shared_ptr<const OnceJob> job;
  const std::stop_token stop;
  std::mutex mutex;  ///< for the condition: a stop may be requested on any thread
  std::condition_variable changed;
  Backoff pauses;
  std::optional<OnceReport::Instant> running{};  ///< the instant of the run under way
  std::optional<OnceReport::Instant> finished{};
  Clock::time_point retry_at{};
  bool closed = false;
};

Clock::time_point OnceLoopState::due() const {
  const OnceSchedule& schedule = job->schedule;
  const OnceReport::Instant wall = job->now();
  const OnceReport::Instant current = schedule.instant_at(wall);
  if (finished != current && schedule.is_in_time(current, wall)) return retry_at;
  return later(clock().now(),
               std::chrono::ceil<std::chrono::milliseconds>(schedule.after(current) - wall));
}

// Without a listener the failure goes where warnings go.
void OnceLoopState::tell(std::string_view why) const noexcept {
  try {
    const OnceReport::Instant instant = running ? *running : job->schedule.instant_at(job->now());
    Event event;
    event.key = job->key;
    event.text = instant_text(instant) + ": " + std::string(why);
    event.kind = Event::Kind::once_failed;
    if (job->locks.options().listener == nullptr) {
      event.kind = Event::Kind::warning;
      event.text = "the job '" + job->locks.options().prefix + job->key + "' failed at " +
                   event.text + "; it is tried again";
    }
    job->locks.publish(event);
  } catch (const std::exception&) {
    return;  // no memory for the event
  }
}

OnceLoop::OnceLoop(std::shared_ptr<const OnceJob> job, std::stop_token stop)
    : state_(std::make_unique<OnceLoopState>(std::move(job), std::move(stop))) {}

OnceLoop::~OnceLoop() = default;

bool OnceLoop::await_run() {
  OnceLoopState& state = *state_;
  const std::stop_callback wake(state.stop, [&state] {
    const std::lock_guard lock(state.mutex);
    state.changed.notify_all();
  });
  std::unique_lock lock(state.mutex);
  while (!state.closed && !state.stop.stop_requested()) {
    const Clock::time_point now = state.clock().now();
    const Clock::time_point due = state.due();
    if (due <= now) {
      state.running.reset();  // there may be no memory for a run
      return true;
    }
    state.clock().wait_until(lock, state.changed, std::min(due, later(now, longest_sleep)));
  }
  return false;
}

void OnceLoop::begun(const OnceReport& report) noexcept { state_->running = report.instant; }

void OnceLoop::done(const OnceReport& report) noexcept {
  state_->finished = report.instant;
  static_cast<void>(state_->pauses.after_success());
}

// The listener already has the exception of a body. If that is an error of latchkey,
// Error::body_ran() is true.
void OnceLoop::failed() noexcept {
  OnceLoopState& state = *state_;
  state.retry_at = later(state.clock().now(), state.pauses.after_failure());
  const bool listens = state.job->locks.options().listener != nullptr;
  try {
    throw;
  } catch (const Closed& error) {
    state.closed = !error.body_ran();
  } catch (const Error& error) {
    if (state.stop.stop_requested()) return;
    if (!error.body_ran() || !listens) state.tell(error.what());
  } catch (const std::exception& error) {
    if (!listens) state.tell(error.what());
  } catch (...) {
    if (!listens) state.tell("something that is not a std::exception");
  }
}

}  // namespace latchkey::inline v1::detail
