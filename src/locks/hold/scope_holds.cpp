// What the scopes of one thread hold by HERE.
#include "locks/hold/scope_holds.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "core/at_fork.hpp"
#include "core/thread_cache.hpp"
#include "locks/hold/multi_hold.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::detail {
namespace {

// Without destructors, so that a Hold in another local of the thread may outlive them.
constinit thread_local ScopeHolds* mine = nullptr;
constinit thread_local bool ended = false;

// Written in the child of a fork only, which has one thread then.
constinit int forks = 0;

}  // namespace

// Of a child's threads only the one that forked is there, and it holds nothing. The other threads'
// scopes are left as they were: somebody may have been at work on them.
struct ScopeHolds::AtFork final : ForkParticipant {
  void prepare() noexcept override {
    if (mine != nullptr) mine->mutex_.lock();
  }
  void parent() noexcept override {
    if (mine != nullptr) mine->mutex_.unlock();
  }
  void child() noexcept override {
    ++forks;
    if (mine == nullptr) return;
    mine->newest_ = nullptr;
    mine->mutex_.unlock();
  }
};

struct ScopeHolds::AtThreadEnd {
  ~AtThreadEnd() {
    ended = true;
    ScopeHolds* const own = std::exchange(mine, nullptr);
    {
      const std::lock_guard guard(own->mutex_);
      own->orphaned_ = true;
      if (own->newest_ != nullptr) return;  // the last of them takes it along
    }
    delete own;
  }
};

void ScopeHold::reset() noexcept {
  home = nullptr;
  held = nullptr;
  prefix.clear();
  clock = nullptr;
}

bool ScopeHold::covers(std::string_view key) const {
  if (several) return MultiHold::of(*held).covers(prefix + std::string(key));
  const std::string_view whole = static_cast<const RemoteHold&>(*held).home->key.view();
  return whole.starts_with(prefix) && whole.substr(prefix.size()) == key;
}

bool ScopeHold::lost() const noexcept {
  if (several) return MultiHold::of(*held).lost();
  const auto& remote = static_cast<const RemoteHold&>(*held);
  return remote.lost.load(std::memory_order_acquire) || remote.is_lost(remote.space->clock().now());
}

std::chrono::milliseconds ScopeHold::linger() const noexcept {
  using std::chrono::milliseconds;
  if (clock == nullptr || std::uncaught_exceptions() > exceptions) return milliseconds(0);
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(held_until - clock->now()));
}

Hold ScopeHolds::enter(Hold hold, std::string_view prefix, Clock* clock,
                       Clock::time_point held_until) {
  ScopeHold& scope = ThreadCache<ScopeHold>::take();
  // From here on it goes with the hold.
  hold.scope_ = &scope;
  scope.held = hold.held_;
  scope.several = hold.terms_.several;
  scope.type = hold.terms_.type;
  scope.prefix = prefix;
  scope.clock = clock;
  scope.held_until = held_until;
  scope.exceptions = std::uncaught_exceptions();
  add(scope);
  return hold;
}

// Of a thread that is about to end nobody asks any more.
void ScopeHolds::add(ScopeHold& scope) {
  if (ended) return;
  if (mine == nullptr) {
    static AtFork at_fork;
    static const bool registered = (register_fork_participant(ForkLevel::locks, at_fork), true);
    static_cast<void>(registered);
    mine = new ScopeHolds;
    thread_local const AtThreadEnd at_end;
    static_cast<void>(at_end);
  }
  const std::lock_guard guard(mine->mutex_);
  scope.home = mine;
  scope.forks = forks;
  scope.next = mine->newest_;
  mine->newest_ = &scope;
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
      const std::lock_guard guard(home->mutex_);
      home->remove(scope);
      last = home->orphaned_ && home->newest_ == nullptr;
    }
    if (last) delete home;
  }
  ThreadCache<ScopeHold>::give_back(scope);
}

ScopeHolds::Found ScopeHolds::find(std::string_view key, LockType& type) {
  if (mine == nullptr) return Found::nothing;
  const std::lock_guard guard(mine->mutex_);
  Found found = Found::nothing;
  for (const ScopeHold* scope = mine->newest_; scope != nullptr; scope = scope->next) {
    if (!scope->covers(key)) continue;
    if (!scope->lost()) return Found::held;
    found = Found::lost;
    type = scope->type;
  }
  return found;
}

}  // namespace latchkey::detail
