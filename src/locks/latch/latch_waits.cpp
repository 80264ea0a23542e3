// Waiting for latches.
// SPDX-License-Identifier: BSL-1.0
#include "locks/latch/latch_waits.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <latchkey/error.hpp>

#include "core/mutex.hpp"
#include "locks/coordinator/wait_times.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

using std::chrono::milliseconds;

namespace {

std::unique_ptr<DirectRequest> request_about(std::string_view key, Verb verb) {
  auto request = std::make_unique<DirectRequest>();
  request->verb = verb;
  request->own_key = key;
  request->key = request->own_key;
  request->latch = verb == Verb::subscribe || verb == Verb::unsubscribe;
  return request;
}

}  // namespace

struct LatchWaits::Progress {
  std::string_view key;
  bool forever;
  milliseconds grace;  ///< how much longer than the wait the reply to the first question may take
  Clock::time_point until;         ///< the end of the wait
  Clock::time_point silent_since;  ///< the last answer, or the begin
  std::uint64_t count = 0;         ///< the last one
  std::string trouble{};           ///< why the last question had no answer; empty: it had one

  [[nodiscard]] Clock::time_point end(const Options& options) const noexcept {
    if (!forever) return until;
    return trouble.empty() ? Clock::never() : later(silent_since, options.unavailable_after);
  }
};

bool LatchWaits::wait(std::string_view key, Wait wait) {
  Clock& clock = space_.clock();
  const Clock::time_point began = clock.now();
  Progress progress{key, wait.is_forever(),
                    Call::grace_of(wait.length(), space_.options().command_timeout),
                    later(began, wait.length()), began};
  if (read_is_zero(progress)) return true;
  if (wait.length() == milliseconds(0) && progress.trouble.empty()) return false;
  Waiter waiter{key, &Parker::mine()};
  struct Leave {
    LatchWaits& waits;
    Waiter& waiter;
    ~Leave() { waits.leave(waiter); }
  };
  enter(waiter, progress.end(space_.options()));
  const Leave leave{*this, waiter};
  milliseconds pause(0);
  for (;;) {
    if (is_closed()) throw Closed({std::string(key), {}, space_.describe()});
    if (read_is_zero(progress)) return true;
    const Clock::time_point end = progress.end(space_.options());
    if (clock.now() >= end) break;
    const bool pushes = space_.capabilities().pushes;
    const PauseRange range = !progress.trouble.empty() ? retry_poll
                             : pushes                  ? safety_poll
                                                       : plain_poll;
    pause = range.next(pause);
    sleep(waiter, std::min(end, later(clock.now(), pause)));
  }
  if (progress.trouble.empty()) return false;
  throw BackendUnavailable({std::string(key), {}, space_.describe()}, progress.trouble);
}

bool LatchWaits::read_is_zero(Progress& progress) {
  auto request = request_about(progress.key, Verb::latch_count);
  const Clock::time_point now = space_.clock().now();
  Clock::time_point until = later(now, space_.options().command_timeout);
  if (!progress.forever)
    until = std::min(until, std::max(progress.until, later(now, progress.grace)));
  if (!space_.direct_requests().run(request, until)) {
    progress.trouble = "the server gave no answer";
    return false;
  }
  const Outcome& outcome = request->outcome;
  if (outcome.kind == Outcome::Kind::refused) {
    throw BackendRefused({std::string(progress.key), {}, space_.describe()}, outcome.reason);
  }
  if (outcome.kind != Outcome::Kind::granted) {
    progress.trouble = outcome.reason.empty() ? "the server gave no answer" : outcome.reason;
    return false;
  }
  progress.trouble.clear();
  progress.silent_since = space_.clock().now();
  progress.count = outcome.token;
  return outcome.token == 0;
}

// Each wait subscribes: that is idempotent, and its reply says that the subscription is there.
void LatchWaits::enter(Waiter& waiter, Clock::time_point until) {
  auto request = request_about(waiter.key, Verb::subscribe);
  {
    const ScopedLock lock(mutex_);
    waiter.next = first_;
    first_ = &waiter;
    space_.direct_requests().start(*request);
  }
  const Clock::time_point patience = later(space_.clock().now(), space_.options().command_timeout);
  // Without a subscription the wait polls.
  if (!space_.direct_requests().wait(*request, std::min(until, patience))) {
    space_.direct_requests().abandon(std::move(request));
  }
}

void LatchWaits::leave(Waiter& waiter) noexcept {
  try {
    auto request = request_about(waiter.key, Verb::unsubscribe);
    {
      const ScopedLock lock(mutex_);
      Waiter** place = &first_;
      while (*place != &waiter) place = &(*place)->next;
      *place = waiter.next;
      if (is_awaited(waiter.key)) return;
      space_.direct_requests().start(*request);
    }
    space_.driver().drive(*waiter.parker, space_.clock().now());  // sends it
    space_.direct_requests().abandon(std::move(request));
  } catch (const std::bad_alloc&) {
    // The subscription stays, and wakes nobody.
    const ScopedLock lock(mutex_);
    for (Waiter** place = &first_; *place != nullptr; place = &(*place)->next) {
      if (*place != &waiter) continue;
      *place = waiter.next;
      return;
    }
  }
}

bool LatchWaits::is_awaited(std::string_view key) const noexcept {
  for (const Waiter* each = first_; each != nullptr; each = each->next) {
    if (each->key == key) return true;
  }
  return false;
}

void LatchWaits::sleep(Waiter& waiter, Clock::time_point until) {
  for (;;) {
    {
      const ScopedLock lock(mutex_);
      if (std::exchange(waiter.notified, false) || closed_) return;
    }
    if (space_.clock().now() >= until) return;
    space_.driver().drive(*waiter.parker, until);
  }
}

void LatchWaits::notify(std::string_view key) noexcept {
  const ScopedLock lock(mutex_);
  for (Waiter* each = first_; each != nullptr; each = each->next) {
    if (each->key != key) continue;
    each->notified = true;
    each->parker->unpark();
  }
}

void LatchWaits::notify_all() noexcept {
  const ScopedLock lock(mutex_);
  for (Waiter* each = first_; each != nullptr; each = each->next) {
    each->notified = true;
    each->parker->unpark();
  }
}

void LatchWaits::close() noexcept {
  {
    const ScopedLock lock(mutex_);
    closed_ = true;
  }
  notify_all();
}

bool LatchWaits::is_closed() noexcept {
  const ScopedLock lock(mutex_);
  return closed_;
}

}  // namespace latchkey::inline v1::detail
