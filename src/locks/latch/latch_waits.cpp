// Waiting for latches.
// SPDX-License-Identifier: BSL-1.0
#include "locks/latch/latch_waits.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <latchkey/error.hpp>
#include <latchkey/parker.hpp>

#include "core/mutex.hpp"
#include "locks/async/async_latch_wait.hpp"
#include "locks/latch/latch_calls.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

/// One wait, on the stack of its thread.
struct LatchWaits::ThreadWaiter final : Waiter {
  using Waiter::Waiter;
  void wake() noexcept override { parker.unpark(); }

  Parker& parker = Parker::mine();
};

/// Takes a waiter out of the list, and ends the subscription after the last one.
struct LatchWaits::Membership {
  Membership(LatchWaits& its_waits, ThreadWaiter& its_waiter)
      : waits(its_waits), waiter(its_waiter) {}
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;
  ~Membership() { waits.unsubscribe(waiter); }

  LatchWaits& waits;
  ThreadWaiter& waiter;
};

LatchWait::Settings LatchWaits::settings() const noexcept {
  const Options& options = space_.options();
  return {options.command_timeout, options.unavailable_after, space_.capabilities().pushes};
}

bool LatchWaits::wait(std::string_view key, Wait length) {
  using Step = LatchWait::Step;
  Clock& clock = space_.clock();
  LatchWait wait(length, settings(), clock.now());
  ThreadWaiter waiter(key);
  std::optional<Membership> membership;
  for (;;) {
    switch (wait.step()) {
      case Step::read: read(key, wait); break;
      case Step::subscribe:
        membership.emplace(*this, waiter);
        subscribe(waiter, wait.until());
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
      case Step::unavailable: throw BackendUnavailable(site_of_latch(space_, key), wait.trouble());
    }
  }
}

void LatchWaits::read(std::string_view key, LatchWait& wait) {
  auto request = make_latch_request(key, Verb::latch_count);
  if (!space_.direct_requests().run(request, wait.until())) {
    return wait.on_no_answer("the server gave no answer", space_.clock().now());
  }
  on_count_reply(*request, wait);
}

void LatchWaits::on_count_reply(const DirectRequest& answered, LatchWait& wait) {
  const Outcome& outcome = answered.outcome;
  if (outcome.kind == Outcome::Kind::refused) {
    throw BackendRefused(site_of_latch(space_, answered.own_key), outcome.reason);
  }
  const Clock::time_point now = space_.clock().now();
  if (outcome.kind == Outcome::Kind::granted) return wait.on_count(outcome.token, now);
  wait.on_no_answer(outcome.reason.empty() ? "the server gave no answer" : outcome.reason, now);
}

// Each wait subscribes: that is idempotent, and its reply says that the subscription is there.
void LatchWaits::subscribe(ThreadWaiter& waiter, Clock::time_point until) {
  auto request = make_latch_request(waiter.key, Verb::subscribe);
  enter(waiter);
  space_.direct_requests().start(*request);
  const Clock::time_point patience = later(space_.clock().now(), space_.options().command_timeout);
  // Without a subscription the wait polls.
  if (!space_.direct_requests().wait(*request, std::min(until, patience))) {
    space_.direct_requests().abandon(std::move(request));
  }
}

void LatchWaits::unsubscribe(ThreadWaiter& waiter) noexcept {
  auto request = leave(waiter);
  if (request == nullptr) return;
  space_.driver().drive(waiter.parker, space_.clock().now());  // sends it
  space_.direct_requests().abandon(std::move(request));
}

void LatchWaits::enter(Waiter& waiter) noexcept {
  const ScopedLock lock(mutex_);
  waiter.next = first_;
  first_ = &waiter;
}

// The unsubscribe is submitted with the mutex held: a subscription that another wait requests is
// later.
std::unique_ptr<DirectRequest> LatchWaits::leave(const Waiter& waiter) noexcept {
  try {
    auto request = make_latch_request(waiter.key, Verb::unsubscribe);
    const ScopedLock lock(mutex_);
    remove(waiter);
    if (is_awaited(waiter.key)) return nullptr;
    space_.direct_requests().start(*request);
    return request;
  } catch (const std::bad_alloc&) {
    const ScopedLock lock(mutex_);
    remove(waiter);
    return nullptr;
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

bool LatchWaits::take_notification(Waiter& waiter) noexcept {
  const ScopedLock lock(mutex_);
  return std::exchange(waiter.notified, false);
}

void LatchWaits::sleep(ThreadWaiter& waiter, Clock::time_point until) {
  for (;;) {
    if (take_notification(waiter) || is_closed()) return;
    if (space_.clock().now() >= until) return;
    space_.driver().drive(waiter.parker, until);
  }
}

// --- waits that no thread waits for ---

void LatchWaits::add(AsyncLatchWait& added) {
  space_.timer().require_running(added.key, LockType::REENTRANT);
  {
    const ScopedLock lock(mutex_);
    added.next_async = first_async_;
    first_async_ = &added;
  }
  call_timer();
}

void LatchWaits::call_timer() noexcept { space_.due_times().note_waits(Clock::time_point::min()); }

// Only this thread takes waits out of the list, and others put theirs before the first.
void LatchWaits::tick() noexcept {
  Clock::time_point next = Clock::never();
  for (AsyncLatchWait* each = first_async(); each != nullptr;) {
    AsyncLatchWait& wait = *std::exchange(each, each->next_async);
    if (wait.advance()) {
      remove_async(wait);
      wait.notify_ended();
    } else {
      next = std::min(next, wait.due());
    }
  }
  if (next != Clock::never()) space_.due_times().note_waits(next);
}

void LatchWaits::end_all() noexcept {
  while (AsyncLatchWait* const each = first_async()) {
    remove_async(*each);
    each->drop();
    each->notify_ended();
  }
}

void LatchWaits::submit(DirectRequest& request) {
  request.observer = this;
  space_.direct_requests().start(request);
}

AsyncLatchWait* LatchWaits::first_async() noexcept {
  const ScopedLock lock(mutex_);
  return first_async_;
}

void LatchWaits::remove_async(AsyncLatchWait& ended) noexcept {
  const ScopedLock lock(mutex_);
  AsyncLatchWait** place = &first_async_;
  while (*place != nullptr && *place != &ended) place = &(*place)->next_async;
  if (*place != nullptr) *place = ended.next_async;
}

// --- the sink's part ---

void LatchWaits::notify(std::string_view key) noexcept {
  const ScopedLock lock(mutex_);
  for (Waiter* each = first_; each != nullptr; each = each->next) {
    if (each->key != key) continue;
    each->notified = true;
    each->wake();
  }
}

void LatchWaits::notify_all() noexcept {
  const ScopedLock lock(mutex_);
  for (Waiter* each = first_; each != nullptr; each = each->next) {
    each->notified = true;
    each->wake();
  }
}

void LatchWaits::close() noexcept {
  {
    const ScopedLock lock(mutex_);
    closed_ = true;
  }
  notify_all();
  call_timer();
}

bool LatchWaits::is_closed() noexcept {
  const ScopedLock lock(mutex_);
  return closed_;
}

void LatchWaits::throw_if_closed(std::string_view key) {
  if (is_closed()) throw Closed(site_of_latch(space_, key));
}

}  // namespace latchkey::inline v1::detail
