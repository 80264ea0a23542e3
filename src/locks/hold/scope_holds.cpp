// The list of each thread's scopes, across thread ends and forks.
// SPDX-License-Identifier: BSL-1.0
#include "locks/hold/scope_holds.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "core/at_fork.hpp"
#include "core/thread_cache.hpp"
#include "locks/hold/held.hpp"

namespace latchkey::inline v1::detail {
namespace {

// Trivially destructible, so that a Hold in another thread_local object may outlive them.
constinit thread_local ScopeHolds* thread_holds = nullptr;
constinit thread_local bool ended = false;

// Written only in the child of a fork, while it has one thread.
constinit int forks = 0;

}  // namespace

// In the child only the thread that forked exists, and it holds nothing. The other threads' scopes
// are not touched: one of them may have been changing them.
struct ScopeHolds::AtFork final : ForkParticipant {
  void prepare() noexcept LATCHKEY_FORK_HANDLER override {
    if (thread_holds != nullptr) thread_holds->mutex_.lock();
  }
  void parent() noexcept LATCHKEY_FORK_HANDLER override {
    if (thread_holds != nullptr) thread_holds->mutex_.unlock();
  }
  void child() noexcept LATCHKEY_FORK_HANDLER override {
    ++forks;
    if (thread_holds == nullptr) return;
    thread_holds->newest_ = nullptr;
    thread_holds->mutex_.unlock();
  }
};

struct ScopeHolds::AtThreadEnd {
  ~AtThreadEnd() {
    ended = true;
    ScopeHolds* const own = std::exchange(thread_holds, nullptr);
    {
      const ScopedLock lock(own->mutex_);
      own->thread_ended_ = true;
      if (own->newest_ != nullptr) return;  // the last scope deletes it
    }
    delete own;
  }
};

void ScopeHold::reset() noexcept {
  home = nullptr;
  held = Held();
  clock = nullptr;
}

bool ScopeHold::covers(std::string_view key) const noexcept {
  return with_held(held, terms, [&](const auto& one) { return one.covers(key); });
}

bool ScopeHold::lost() const noexcept {
  return with_held(held, terms, [](const auto& one) { return one.lost(); });
}

std::chrono::milliseconds ScopeHold::linger() const noexcept {
  using std::chrono::milliseconds;
  if (clock == nullptr || std::uncaught_exceptions() > exceptions) return milliseconds(0);
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(held_until - clock->now()));
}

Hold ScopeHolds::enter(Hold hold, Clock* clock, Clock::time_point held_until) {
  ScopeHold& scope = ThreadCache<ScopeHold>::take();
  // From here on the hold ends the scope.
  hold.scope_ = &scope;
  scope.held = hold.held_;
  scope.terms = hold.terms_;
  scope.clock = clock;
  scope.held_until = held_until;
  scope.exceptions = std::uncaught_exceptions();
  add(scope);
  return hold;
}

// A thread that is about to end needs no list: nothing is found in it any more.
void ScopeHolds::add(ScopeHold& scope) {
  if (ended) return;
  if (thread_holds == nullptr) {
    static AtFork at_fork;
    static const bool registered = (register_fork_participant(ForkLevel::locks, at_fork), true);
    static_cast<void>(registered);
    thread_holds = new ScopeHolds;
    thread_local const AtThreadEnd at_end;
    static_cast<void>(at_end);
  }
  const ScopedLock lock(thread_holds->mutex_);
  scope.home = thread_holds;
  scope.forks = forks;
  scope.next = thread_holds->newest_;
  thread_holds->newest_ = &scope;
}

void ScopeHolds::remove(ScopeHold& scope) noexcept {
  ScopeHold** place = &newest_;
  while (*place != &scope) place = &(*place)->next;
  *place = scope.next;
}

void ScopeHolds::leave(ScopeHold& scope) noexcept {
  if (ScopeHolds* const home = scope.home) {
    if (scope.forks != forks) return;  // inherited: the parent's
    bool last = false;
    {
      const ScopedLock lock(home->mutex_);
      home->remove(scope);
      last = home->thread_ended_ && home->newest_ == nullptr;
    }
    if (last) delete home;
  }
  ThreadCache<ScopeHold>::give_back(scope);
}

ScopeHolds::Found ScopeHolds::find(std::string_view key, LockType& type) {
  if (thread_holds == nullptr) return Found::nothing;
  const ScopedLock lock(thread_holds->mutex_);
  Found found = Found::nothing;
  for (const ScopeHold* scope = thread_holds->newest_; scope != nullptr; scope = scope->next) {
    if (!scope->covers(key)) continue;
    if (!scope->lost()) return Found::held;
    found = Found::lost;
    type = scope->terms.type;
  }
  return found;
}

}  // namespace latchkey::inline v1::detail
