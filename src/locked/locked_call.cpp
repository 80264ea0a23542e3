// One call under LOCKED: everything about it that does not depend on types.
#include <latchkey/locked/locked_call.hpp>

#include <algorithm>
#include <string>

#include <latchkey/default_locks.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::detail {
namespace {

constinit thread_local LockedCall* innermost_call = nullptr;

}  // namespace

LockedCall* LockedCall::innermost() noexcept { return innermost_call; }

void LockedCall::link() noexcept {
  outer_ = innermost_call;
  innermost_call = this;
  linked_ = true;
}

void LockedCall::unlink() noexcept {
  innermost_call = outer_;
  linked_ = false;
}

void LockedCall::end() noexcept {
  unlink();
  hold_.reset();
}

Entry LockedCall::enter(std::string_view key, Site& site) {
  site.give_name(terms_.name);
  if (locks_ == nullptr) locks_ = &default_locks();
  key_ = key;
  if (terms_.hold_for.count() != 0) entered_ = Clock::system().now();
  if (terms_.raises_unavailable) return acquire(*locks_);
  try {
    return acquire(*locks_);
  } catch (const BackendUnavailable&) {
    return Entry::unavailable;
  }
}

Entry LockedCall::acquire(const Locks& locks) {
  Attempt attempt{terms_.type, terms_.wait, terms_.lease, {}, terms_.reentry};
  if (cancel_ != nullptr) attempt.cancel = *cancel_;
  if (terms_.raises_timeout) {
    hold_.emplace(locks.acquire(key_, attempt));
  } else {
    hold_ = locks.try_acquire(key_, attempt);
    if (!hold_) return Entry::timeout;
  }
  link();
  return Entry::held;
}

void LockedCall::leave() {
  unlink();
  if (!hold_) return;  // it ran unlocked
  if (terms_.raises_loss) {
    release();
  } else if (terms_.hold_for.count() != 0) {
    try {
      release();
    } catch (const Error&) {
      // The listener was told of a loss when it was noticed; what stays is left to the lease.
    }
  }
  hold_.reset();  // where only the listener is told, this is what releases
}

void LockedCall::release() {
  std::chrono::milliseconds left{0};
  if (terms_.hold_for.count() != 0) {
    const auto passed = Clock::system().now() - entered_;
    left = std::max(left, std::chrono::ceil<std::chrono::milliseconds>(terms_.hold_for - passed));
  }
  if (hold_->release_after(left)) return;
  // The hold is gone and its key with it: the lock of that name has the prefix too.
  const Lock lock = locks_->lock(std::string(key_), terms_.type);
  throw LockLost({lock.key(), terms_.type, locks_->describe()});
}

Entry LockedCall::failed() noexcept {
  try {
    throw;
  } catch (const LockTimeout&) {
    return Entry::timeout;
  } catch (const Cancelled&) {
    return Entry::timeout;
  } catch (...) {
    return Entry::unavailable;
  }
}

}  // namespace latchkey::detail
