// One call under LOCKED: everything about it that does not depend on types.
#include <latchkey/locked/locked_call.hpp>

#include <algorithm>
#include <string>

#include <latchkey/default_locks.hpp>
#include <latchkey/error.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/locks.hpp>

#include "locked/lock_order.hpp"

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

template <class Acquire>
Entry LockedCall::enter_by(Acquire acquire, std::string_view key_template, Site& site) {
  site.give_name(terms_->name);
  origin_.site = &site;
  if (origin_.key_template.empty()) origin_.key_template = key_template;
  if (terms_->unlocked) {
    link();
    return Entry::held;
  }
  if (locks_ == nullptr) locks_ = &default_locks();
  if (terms_->hold_for.count() != 0) entered_ = locks_->clock().now();
  if (terms_->raises_unavailable) return acquire();
  try {
    return acquire();
  } catch (const BackendUnavailable&) {
    return Entry::unavailable;
  }
}

Entry LockedCall::enter(std::string_view key, std::string_view key_template, Site& site) {
  return enter_by(
      [&] {
        key_ = key;
        return acquire(*locks_);
      },
      key_template, site);
}

Entry LockedCall::enter_all(const std::vector<std::string>& keys, std::string_view key_template,
                            Site& site) {
  return enter_by([&] { return acquire_all(keys); }, key_template, site);
}

Entry LockedCall::decide(Entry entry) noexcept {
  if (entry == Entry::timeout && terms_->runs_unlocked) {
    link();
    return Entry::held;
  }
  if (entry == Entry::timeout && terms_->skips_timeout) return Entry::skipped_timeout;
  if (entry == Entry::unavailable && terms_->skips_unavailable) return Entry::skipped_unavailable;
  return entry;
}

Entry LockedCall::acquire(const Locks& locks) {
  Attempt attempt{terms_->type, terms_->wait, terms_->lease, {}, terms_->reentry, origin_};
  if (cancel_ != nullptr) attempt.cancel = *cancel_;
  // Only a call within another can break an order: elsewhere this is all that it costs.
  if (innermost_call != nullptr) check_lock_order(*this, *terms_, *innermost_call);
  if (terms_->raises_timeout) {
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
  std::chrono::milliseconds linger{0};
  if (terms_->hold_for.count() != 0) {
    const auto left = terms_->hold_for - (locks_->clock().now() - entered_);
    linger = std::max(linger, std::chrono::ceil<std::chrono::milliseconds>(left));
  }
  if (terms_->raises_loss) {
    release(linger);
  } else {
    hold_->release_quietly_after(linger);
  }
  hold_.reset();
}

void LockedCall::release(std::chrono::milliseconds linger) {
  if (key_.empty()) return release_all(linger);
  if (hold_->release_after(linger)) return;
  // The hold is gone and its key with it: the lock of that name has the prefix too.
  const Lock lock = locks_->lock(std::string(key_), terms_->type);
  throw LockLost({lock.key(), terms_->type, locks_->describe()});
}

namespace {

void tell_hidden(const Locks* locks, LockType type, const Site& site, std::string_view key,
                 std::string_view what) {
  try {
    if (locks == nullptr) locks = &default_locks();
    Event event;
    event.kind = Event::Kind::hidden_error;
    event.type = type;
    event.key = key;
    event.origin.site = &site;
    event.owner = Owner::this_thread().number();
    event.text = std::string(site.name()) + ": " + std::string(what);
    locks->tell(event);
  } catch (...) {
    // Without Locks there is no listener, without memory no event.
  }
}

}  // namespace

Entry LockedCall::failed(const Locks* locks, LockType type, const Site& site) noexcept {
  try {
    throw;
  } catch (const LockTimeout&) {
    return Entry::timeout;
  } catch (const Cancelled&) {
    return Entry::timeout;
  } catch (const BackendUnavailable&) {
    return Entry::unavailable;
  } catch (const LockError& error) {
    tell_hidden(locks, type, site, error.key(), error.what());
  } catch (const std::exception& error) {
    tell_hidden(locks, type, site, {}, error.what());
  } catch (...) {
    tell_hidden(locks, type, site, {}, "something that is no std::exception");
  }
  return Entry::unavailable;
}

}  // namespace latchkey::detail
