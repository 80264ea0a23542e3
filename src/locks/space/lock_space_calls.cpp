// The calls of Locks, Lock and Hold.
// tidy: long-file because the fast paths are inlined into the calls.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include <latchkey/error.hpp>

#include "core/mutex.hpp"
#include "core/sanitizer_pause.hpp"
#include "core/thread_order.hpp"
#include "locks/async/async_call.hpp"
#include "locks/event_kinds.hpp"
#include "locks/multi/immediate_batch.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {
namespace {

bool can_wait() noexcept {
  try {
    require_parker();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

[[gnu::always_inline]] inline RemoteHold* LockSpace::acquire_at_once(const KeyPlace& place,
                                                                     const AcquireTerms& terms) {
  require_offered(terms.lease, terms.type);
  if (reports_grants_ || !driver_.answers_at_once()) return nullptr;
  const SanitizerPause pause;
  timer_.require_running(place.key, terms.type);
  if (terms.type == LockType::PERMIT) [[unlikely]]
    return nullptr;  // has an owner of its own
  RemoteHold* const hold = driver_.acquire_at_once(place, terms, acquire_time(terms.lease));
  if (hold != nullptr) order_after_grant(place.key, terms.type);
  return hold;
}

[[gnu::always_inline]] inline bool LockSpace::answer_release(
    RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger) noexcept {
  if (reports_grants_ || !driver_.answers_at_once() || linger.count() > 0) return false;
  const SanitizerPause pause;
  order_before_release(hold.home->key.view(), terms.type);
  return driver_.release_at_once(hold, release_time(hold));
}

bool LockSpace::release_at_once(RemoteHold& hold, HoldTerms terms,
                                std::chrono::milliseconds linger) noexcept {
  return answer_release(hold, terms, linger);
}

std::optional<Hold> LockSpace::acquire_all_at_once(std::span<const std::string_view> keys,
                                                   Owner owner, const Attempt& attempt) {
  const bool queues = attempt.type == LockType::FAIR || attempt.type == LockType::PERMIT;
  if (reports_grants_ || !driver_.answers_at_once() || queues || keys.size() < 2 ||
      keys.size() > ImmediateBatch::most || attempt.cancel.stop_requested() ||
      capabilities_.one_step != Capabilities::OneStep::all) {
    return std::nullopt;
  }
  require_offered(attempt.lease, attempt.type);
  AcquireTerms terms;
  terms.set(owner, attempt);
  MultiHold::Owned all = ImmediateBatch::acquire(*this, keys, terms);
  if (all == nullptr) return std::nullopt;
  return Hold(all.release(), {attempt.type, attempt.lease.is_watchdog()});
}

void LockSpace::acquire(BlockingCall& call, const KeyPlace& place, Owner owner,
                        const Attempt& attempt) {
  call.want(owner, attempt);
  call.limit(attempt.wait);
  call.start_acquire(place);
  call.wait(attempt.cancel);
  if (call.answer() == Answer::granted) order_after_grant(place.key, attempt.type);
}

Hold LockSpace::acquire(const KeyPlace& place, Owner owner, const Attempt& attempt) {
  refuse_if_cancelled(attempt.cancel, place.key, attempt.type);
  AcquireTerms terms;
  terms.set(owner, attempt);
  if (RemoteHold* const hold = acquire_at_once(place, terms)) [[likely]] {
    return Hold(hold, first_terms(attempt.type, attempt.lease, attempt.fenced));
  }
  return acquire_by_call(place, owner, attempt);
}

// A OncePer whose instant is taken has no timeout to report.
bool LockSpace::names_announced(const Attempt& attempt) const noexcept {
  return options_.announce && reports_grants_ && capabilities_.administration &&
         attempt.origin.key_template != once_template;
}

Hold LockSpace::acquire_by_call(const KeyPlace& place, Owner owner, const Attempt& attempt) {
  BlockingCall call(*this);
  call.want_holder_name();
  if (names_announced(attempt)) call.report_timeout_later();
  acquire(call, place, owner, attempt);
  if (call.answer() != Answer::granted) throw_answer(*this, call.call(), place.key);
  return hold_of(call.call());
}

std::optional<Hold> LockSpace::try_acquire(const KeyPlace& place, Owner owner,
                                           const Attempt& attempt) {
  refuse_if_cancelled(attempt.cancel, place.key, attempt.type);
  AcquireTerms terms;
  terms.set(owner, attempt);
  if (RemoteHold* const hold = acquire_at_once(place, terms)) {
    return Hold(hold, first_terms(attempt.type, attempt.lease, attempt.fenced));
  }
  BlockingCall call(*this);
  if (names_announced(attempt)) call.report_timeout_later();
  acquire(call, place, owner, attempt);
  if (call.answer() == Answer::busy) {
    if (call.call().leaves_report()) static_cast<void>(name_holder(*this, call.call(), place.key));
    return std::nullopt;
  }
  if (call.answer() != Answer::granted) throw_answer(*this, call.call(), place.key);
  return hold_of(call.call());
}

Hold LockSpace::hold_of(const Call& granted) {
  return Hold(granted.hold, {.type = granted.type,
                             .watchdog = granted.lease.is_watchdog(),
                             .fenced = granted.wants_token(),
                             .limit = granted.limit_number()});
}

bool LockSpace::lock(const KeyPlace& place, LockType type, Owner owner, Wait wait) {
  AcquireTerms terms;
  terms.owner = owner;
  terms.type = type;
  terms.by_lock = true;
  return acquire_at_once(place, terms) != nullptr || lock_by_call(place, type, owner, wait);
}

bool LockSpace::lock_by_call(const KeyPlace& place, LockType type, Owner owner, Wait wait) {
  Attempt attempt;
  attempt.type = type;
  attempt.wait = wait;
  attempt.lease = watchdog;
  BlockingCall call(*this);
  call.want_by_lock();
  acquire(call, place, owner, attempt);
  if (call.answer() == Answer::granted) return true;
  if (call.answer() == Answer::busy) return false;
  throw_answer(*this, call.call(), place.key);
}

bool LockSpace::unlock(const KeyPlace& place, LockType type, Owner owner) {
  return unlock_at_once(place, type, owner) || unlock_by_call(place, type, owner);
}

bool LockSpace::unlock_at_once(const KeyPlace& place, LockType type, Owner owner) noexcept {
  if (reports_grants_ || !driver_.answers_at_once()) return false;
  const SanitizerPause pause;
  order_before_release(place.key, type);
  return driver_.unlock_at_once(place, type, owner,
                                [this](const RemoteHold& hold) { return release_time(hold); });
}

bool LockSpace::unlock_by_call(const KeyPlace& place, LockType type, Owner owner) {
  BlockingCall call(*this);
  call.start_unlock(place, type, owner);
  call.wait();
  return done_or_throw(*this, call.call());
}

bool LockSpace::release(BlockingCall& call, RemoteHold& hold, HoldTerms terms,
                        std::chrono::milliseconds linger, const ErrorContext* context) {
  if (!can_wait()) {
    call.release_without_waiting(hold, terms, linger);
    throw std::bad_alloc();
  }
  call.start_release(hold, terms, linger);
  call.wait();
  return done_or_throw(*this, call.call(), context);
}

bool LockSpace::release(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger,
                        const ErrorContext* context) {
  return answer_release(hold, terms, linger) || release_by_call(hold, terms, linger, context);
}

bool LockSpace::release_by_call(RemoteHold& hold, HoldTerms terms, std::chrono::milliseconds linger,
                                const ErrorContext* context) {
  BlockingCall call(*this);
  return release(call, hold, terms, linger, context);
}

void LockSpace::release_quietly(RemoteHold& hold, HoldTerms terms,
                                std::chrono::milliseconds linger) noexcept {
  if (terms.detached) return DetachedRelease::start(*this, hold, terms, linger);
  if (answer_release(hold, terms, linger)) return;
  BlockingCall call(*this);  // keeps the space until the error is reported
  try {
    static_cast<void>(release(call, hold, terms, linger, nullptr));
  } catch (const LockError& error) {
    reporter_.unlock_failed(error);
  } catch (const std::bad_alloc&) {
    reporter_.count_unreported(1);  // the hold was given back, or will be
  }
}

bool LockSpace::extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease) {
  require_offered(Lease(lease));
  BlockingCall call(*this);
  call.start_extend(hold, type, lease);
  call.wait();
  return done_or_throw(*this, call.call());
}

void LockSpace::hold_for(RemoteHold& hold, std::chrono::milliseconds time) noexcept {
  const Clock::time_point until = later(clock_.now(), time);
  const ScopedLock lock(driver_.shard_of(hold.home->hash).mutex);
  hold.retention.asked_until = std::max(hold.retention.asked_until, until);
}

std::stop_token LockSpace::stop_token(RemoteHold& hold) {
  const ScopedLock lock(driver_.shard_of(hold.home->hash).mutex);
  if (!hold.stop.stop_possible()) {
    hold.stop = std::stop_source();
    if (hold.lost.load(std::memory_order_relaxed)) hold.stop.request_stop();
  }
  return hold.stop.get_token();
}

bool LockSpace::revoked(RemoteHold& hold) noexcept {
  const bool listens = hold.listens.load(std::memory_order_acquire);
  if (!listens && capabilities_.revocation) driver_.listen_for_revocation(hold);
  return hold.revoked.load(std::memory_order_acquire);
}

std::stop_token LockSpace::revocation_token(RemoteHold& hold) {
  if (!capabilities_.revocation) return {};
  std::stop_token token;
  {
    const ScopedLock lock(driver_.shard_of(hold.home->hash).mutex);
    if (!hold.revocation.stop_possible()) {
      hold.revocation = std::stop_source();
      if (hold.revoked.load(std::memory_order_relaxed)) hold.revocation.request_stop();
    }
    token = hold.revocation.get_token();
  }
  if (!hold.listens.load(std::memory_order_acquire)) driver_.listen_for_revocation(hold);
  return token;
}

std::size_t LockSpace::revoke(std::string_view key) {
  if (!capabilities_.revocation) {
    throw std::invalid_argument(
        describe() + " cannot ask a holder to release its lock; memory:, host: and redis: can");
  }
  Request request;
  request.verb = Verb::revoke;
  request.key = key;
  return administered(request).notified;
}

// The backend tells this connection of no change that it makes itself.
void LockSpace::end_idle_hold_for(const Request& request) noexcept {
  const bool ends = request.verb == Verb::force_release || request.verb == Verb::release;
  if (ends) driver_.end_idle_hold(request.key);
}

Outcome LockSpace::administered(const Request& request) {
  const SanitizerPause pause;
  end_idle_hold_for(request);
  auto asked = std::make_unique<DirectRequest>();
  static_cast<Request&>(*asked) = request;
  static_cast<void>(direct_requests_.run(asked, Clock::never()));
  static_cast<void>(kind_or_throw(*asked));
  return std::move(asked->outcome);
}

void LockSpace::administer_all(std::span<const Request> requests) {
  const SanitizerPause pause;
  std::vector<std::unique_ptr<DirectRequest>> asked;
  asked.reserve(requests.size());
  for (const Request& request : requests) {
    end_idle_hold_for(request);
    static_cast<Request&>(*asked.emplace_back(std::make_unique<DirectRequest>())) = request;
  }
  direct_requests_.run_all(asked);
  for (const auto& each : asked) kind_or_throw(*each);
}

Outcome::Kind LockSpace::kind_or_throw(const DirectRequest& answered) const {
  LockSite site = site_of(answered.key, answered.type);
  const bool of_any = answered.verb == Verb::inspect || answered.verb == Verb::force_release ||
                      answered.verb == Verb::revoke;
  site.untyped = of_any && answered.type == LockType::REENTRANT;
  if (answered.verb == Verb::list) site.key.clear();  // a pattern: the error is about no lock
  const Outcome& outcome = answered.outcome;
  switch (outcome.kind) {
    case Outcome::Kind::granted:
    case Outcome::Kind::gone: return outcome.kind;
    case Outcome::Kind::refused: throw BackendRefused(std::move(site), outcome.reason);
    case Outcome::Kind::busy:
    case Outcome::Kind::unknown: break;
  }
  throw BackendUnavailable(std::move(site), outcome.reason);
}

}  // namespace latchkey::inline v1::detail
