// Waiting for latches.
// SPDX-License-Identifier: BSL-1.0
#include "locks/latch/latch_waits.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <latchkey/error.hpp>

#include "core/mutex.hpp"
#include "locks/latch/latch_wait.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

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

bool LatchWaits::wait(std::string_view key, Wait length) {
  using Step = LatchWait::Step;
  Clock& clock = space_.clock();
  const Options& options = space_.options();
  LatchWait wait(length,
                 {options.command_timeout, options.unavailable_after, space_.capabilities().pushes},
                 clock.now());
  Waiter waiter{key, &Parker::mine()};
  std::optional<Membership> membership;
  for (;;) {
    switch (wait.step()) {
      case Step::read: read(key, wait); break;
      case Step::subscribe:
        membership.emplace(*this, waiter);
        enter(waiter, wait.until());
        throw_if_closed(key);
        wait.on_subscribed(clock.now());
        break;
      case Step::sleep:
        sleep(waiter, wait.until());
        throw_if_closed(key);
        wait.on_wake(clock.now());
        break;
      case Step::opened: return true;
      case Step::timed_out: return false;
      case Step::unavailable: throw BackendUnavailable(site_of(key), wait.trouble());
    }
  }
}

void LatchWaits::read(std::string_view key, LatchWait& wait) {
  auto request = request_about(key, Verb::latch_count);
  if (!space_.direct_requests().run(request, wait.until())) {
    return wait.on_no_answer("the server gave no answer", space_.clock().now());
  }
  const Outcome& outcome = request->outcome;
  if (outcome.kind == Outcome::Kind::refused) {
    throw BackendRefused(site_of(key), outcome.reason);
  }
  const Clock::time_point now = space_.clock().now();
  if (outcome.kind == Outcome::Kind::granted) return wait.on_count(outcome.token, now);
  wait.on_no_answer(outcome.reason.empty() ? "the server gave no answer" : outcome.reason, now);
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
      remove(waiter);
      if (is_awaited(waiter.key)) return;
      space_.direct_requests().start(*request);
    }
    space_.driver().drive(*waiter.parker, space_.clock().now());  // sends it
    space_.direct_requests().abandon(std::move(request));
  } catch (const std::bad_alloc&) {
    // The subscription stays, and wakes nobody.
    const ScopedLock lock(mutex_);
    remove(waiter);
  }
}

void LatchWaits::remove(const Waiter& waiter) noexcept {
  Waiter** place = &first_;
  while (*place != nullptr && *place != &waiter) place = &(*place)->next;
  if (*place != nullptr) *place = waiter.next;
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

LockSite LatchWaits::site_of(std::string_view key) const {
  return {.key = std::string(key), .backend = space_.describe(), .latch = true};
}

void LatchWaits::throw_if_closed(std::string_view key) {
  {
    const ScopedLock lock(mutex_);
    if (!closed_) return;
  }
  throw Closed(site_of(key));
}

}  // namespace latchkey::inline v1::detail
