// One call under LOCKED whose body is a coroutine, as code inside the body finds it.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/asio/coroutine_call.hpp>

#include <latchkey/default_locks.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "locked/lock_order.hpp"
#include "locked/observed_call.hpp"
#include "locks/async/access.hpp"
#include "locks/observed_calls.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {

CoroutineCall*& CoroutineCall::innermost_running() noexcept {
  constinit static thread_local CoroutineCall* innermost = nullptr;
  return innermost;
}

std::shared_ptr<CoroutineCall> CoroutineCall::running() {
  CoroutineCall* const innermost = innermost_running();
  if (innermost == nullptr || innermost->stage_ == Stage::ended) return nullptr;
  return innermost->shared_from_this();
}

LockedCall* CoroutineCall::visible() noexcept {
  switch (stage_.load()) {
    case Stage::waiting: return outer_ == nullptr ? nullptr : outer_->visible();
    case Stage::running: return &call_;
    case Stage::ended: break;
  }
  return nullptr;
}

// A frame that is destroyed with its context is not run by this coroutine's executor.
void CoroutineCall::change_stage(Stage stage) noexcept {
  stage_ = stage;
  if (innermost_running() == this) LockedCall::exchange_innermost(visible());
  if (call_.observed_ == nullptr) return;
  leave_thread();
  enter_thread();
}

// The observer is asked here, because the thread that awaits the coroutine may have another context
// than those that run it.
void CoroutineCall::observe() noexcept {
  if (!calls_may_be_observed.load(std::memory_order_relaxed)) return;
  try {
    ObservedCall::begin(call_, call_.locks_ != nullptr ? call_.locks_ : &default_locks());
  } catch (const NotConfigured&) {
    return;  // prepare throws it
  }
}

void CoroutineCall::enter_thread() noexcept {
  if (stage_.load() != Stage::running || parts_ == nullptr) return;
  parts_->scope_ = call_.observed_->observation->enter_thread();
}

void CoroutineCall::leave_thread() noexcept {
  for (Running* part = parts_; part != nullptr; part = part->outer_) part->scope_.reset();
}

void CoroutineCall::acquiring(Attempt& attempt) noexcept {
  if (call_.observed_ != nullptr) call_.observed_->acquiring(call_, attempt);
}

void CoroutineCall::not_acquired(Entry entry, const Attempt& attempt) noexcept {
  if (call_.observed_ != nullptr) call_.observed_->not_acquired(entry, attempt);
}

void CoroutineCall::failed_to_acquire(const Attempt& attempt) noexcept {
  if (call_.observed_ != nullptr) {
    call_.observed_->not_acquired(std::current_exception(), attempt);
  }
}

void CoroutineCall::prepare(const LockedSite& known, Site& site, const void* const* arguments) {
  keys_ = call_.prepare(known, site, arguments);
  if (call_.terms_->unlocked) return;
  if (LockedCall* const outer = visible()) check_lock_order(call_, *call_.terms_, *outer);
}

LockType CoroutineCall::type() const {
  const LockTerms& terms = *call_.terms_;
  if (!terms.fenced) return terms.type;
  return LockAccess::space(*call_.locks_)->space().type_with_token(terms.type);
}

Lock CoroutineCall::lock() const {
  const LockType type = this->type();
  const auto total = static_cast<int>(call_.terms_->permits.total);
  if (!call_.key_.empty() && type == LockType::PERMIT) {
    return call_.locks_->semaphore(std::string(call_.key_), total).lock_;
  }
  if (!call_.key_.empty()) return call_.locks_->lock(std::string(call_.key_), type);
  std::vector<Lock> members;
  members.reserve(keys_.size());
  for (const std::string& key : keys_) members.push_back(call_.locks_->lock(key, type));
  return call_.locks_->all_of(std::move(members));
}

Attempt CoroutineCall::attempt() const {
  const LockTerms& terms = *call_.terms_;
  return {type(),        terms.wait,    terms.lease,   {},
          terms.reentry, call_.origin_, terms.permits, terms.fenced};
}

void CoroutineCall::enter(std::optional<Hold> hold) noexcept {
  if (hold) {
    call_.hold_.emplace(std::move(*hold));
    if (call_.observed_ != nullptr) call_.observed_->acquired(*call_.hold_);
  }
  call_.outer_ = visible();
  change_stage(Stage::running);
}

std::optional<Hold> CoroutineCall::leave() noexcept {
  if (call_.observed_ != nullptr) call_.observed_->body_ended(call_.hold());
  change_stage(Stage::ended);
  std::optional<Hold> hold = std::move(call_.hold_);
  call_.hold_.reset();
  return hold;
}

void CoroutineCall::end() noexcept {
  const bool runs_body = stage_.load() == Stage::running;
  if (runs_body && call_.observed_ != nullptr) call_.observed_->observation->body_threw();
  static_cast<void>(leave());
  if (call_.observed_ != nullptr) ObservedCall::release(call_);
}

}  // namespace latchkey::inline v1::detail
