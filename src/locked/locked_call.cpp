// One call under LOCKED: the part that does not depend on types.
// tidy: long-file because the parts of a call are inlined into one another.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/locked/locked_call.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <latchkey/default_locks.hpp>
#include <latchkey/detail/locked/locked_scope.hpp>
#include <latchkey/detail/locked/run.hpp>
#include <latchkey/error.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/locks.hpp>

#include "locked/lock_order.hpp"
#include "locked/observed_call.hpp"
#include "locks/hold/scope_holds.hpp"
#include "locks/observed_calls.hpp"
#include "locks/space/error_context.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// One object, because each thread_local one is looked up on its own.
struct ThisThread {
  LockedCall* innermost = nullptr;
  const unsigned* exceptions = nullptr;  ///< null until exceptions_in_flight() was called

  /// std::uncaught_exceptions without its call into the C++ runtime: the Itanium C++ ABI (2.2.2)
  /// says what __cxa_get_globals returns, which stays where it is as long as the thread lives.
  [[nodiscard]] const unsigned& exceptions_in_flight() noexcept {
    struct Globals {
      void* caught;
      unsigned uncaught;
    };
    if (exceptions == nullptr) [[unlikely]] {
      exceptions = &reinterpret_cast<const Globals*>(abi::__cxa_get_globals())->uncaught;
    }
    return *exceptions;
  }
};

// Each call reads it several times: without calling a function, also in a shared library. musl does
// not load such libraries while a program runs.
#ifdef __GLIBC__
[[gnu::tls_model("initial-exec")]]
#endif
constinit thread_local ThisThread this_thread;

/// Converts to what `make` returns, so that std::optional::emplace constructs it in place.
template <class Make>
struct InPlace {
  Make make;
  operator Hold() const { return make(); }  // NOLINT: it stands for the hold
};

}  // namespace

LockedCall* LockedCall::innermost() noexcept { return this_thread.innermost; }

LockedCall* LockedCall::exchange_innermost(LockedCall* call) noexcept {
  return std::exchange(this_thread.innermost, call);
}

void LockedCall::link() noexcept {
  outer_ = this_thread.innermost;
  this_thread.innermost = this;
  linked_ = true;
}

void LockedCall::unlink() noexcept {
  this_thread.innermost = outer_;
  linked_ = false;
}

void LockedCall::end() noexcept {
  const bool runs_body = linked_;
  if (linked_) unlink();
  if (observed_ != nullptr) [[unlikely]]
    return ObservedCall::end(*this, runs_body);
  hold_.reset();
}

// These are inlined, since they are part of every call: enter_by, enter_unnamed, enter_named,
// release, leave_plainly and leave_linked.
template <class Take, class TryTake>
[[gnu::always_inline]] inline Entry LockedCall::enter_by(const Take& take, const TryTake& try_take,
                                                         std::string_view key_template,
                                                         Site& site) {
  site.give_name(terms_->name);
  if (!origin_.key_template.empty()) key_template = origin_.key_template;  // the policy's
  const Origin origin{&site, key_template};
  origin_ = origin;
  if (terms_->unlocked) {
    link();
    return Entry::held;
  }
  if (locks_ == nullptr) locks_ = &default_locks();
  if (terms_->hold_for.count() != 0) entered_ = locks_->clock().now();
  Attempt attempt{terms_->type,    terms_->wait, terms_->lease,   {},
                  terms_->reentry, origin,       terms_->permits, terms_->fenced};
  if (cancel_ != nullptr) attempt.cancel = *cancel_;
  // Only a nested call can violate a lock order; for other calls this test is the whole cost.
  if (this_thread.innermost != nullptr) check_lock_order(*this, *terms_, *this_thread.innermost);
  const auto acquire = [&] {
    if (terms_->raises_timeout) {
      hold_.emplace(InPlace{[&] { return take(attempt); }});
    } else {
      hold_ = try_take(attempt);
      if (!hold_) return Entry::timeout;
    }
    link();
    return Entry::held;
  };
  const auto enter = [&] {
    if (terms_->raises_unavailable) return acquire();
    try {
      return acquire();
    } catch (const BackendUnavailable&) {
      return Entry::unavailable;
    }
  };
  if (calls_may_be_observed.load(std::memory_order_relaxed)) [[unlikely]] {
    return ObservedCall::enter(*this, attempt, enter);
  }
  return enter();
}

Entry LockedCall::enter_rendered(std::string_view key_template, Site& site) {
  key_ = rendered_.view();
  return enter_by([&](const Attempt& attempt) { return locks_->acquire(key_, attempt); },
                  [&](const Attempt& attempt) { return locks_->try_acquire(key_, attempt); },
                  key_template, site);
}

[[gnu::always_inline]] inline Entry LockedCall::enter_unnamed(const LockedSite& known, Site& site,
                                                              const void* const* arguments) {
  const SitePolicy* const policy = follow(known.slot);
  if (policy != nullptr && policy->says_key()) {
    return enter_by_policy(*policy, {arguments, site.argument_count()}, site);
  }
  if (known.render != nullptr) {
    known.render(rendered_, known.key, arguments);
    return enter_rendered(known.key.text, site);
  }
  return enter_several(known, site, arguments);
}

[[gnu::always_inline]] inline Entry LockedCall::enter_named(const LockedSite& known, Site& site,
                                                            const void* const* arguments) {
  try {
    return decided(enter_unnamed(known, site, arguments));
  } catch (const KeyError& error) {
    name(error, site, known.note.text);
  }
}

Entry LockedCall::enter(const LockedSite& known, Site& site, const void* const* arguments) {
  return enter_named(known, site, arguments);
}

// Not inlined: a call with one key needs no room for several.
[[gnu::noinline]] Entry LockedCall::enter_several(const LockedSite& known, Site& site,
                                                  const void* const* arguments) {
  if (known.render_all == nullptr) throw_not_configured(known.key.text);
  RenderedKeys keys;
  known.render_all(keys, arguments);
  return enter_all(keys, known.key.text, site);
}

Entry LockedCall::enter_all(RenderedKeys& keys, std::string_view key_template, Site& site) {
  return enter_by(
      [&](const Attempt& attempt) { return locks_->acquire_all(keys.view(), attempt); },
      [&](const Attempt& attempt) { return locks_->try_acquire_all(keys.view(), attempt); },
      key_template, site);
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

Hold LockedCall::take_hold() {
  // Not reached: a policy that would run a HERE without its lock is rejected when it is loaded.
  if (!hold_) throw std::logic_error("internal error: HERE continued without its lock");
  Hold hold = std::move(*hold_);
  hold_.reset();
  const bool lingers = terms_->hold_for.count() != 0;
  return ScopeHolds::enter(std::move(hold), lingers ? &locks_->clock() : nullptr,
                           lingers ? entered_ + terms_->hold_for : Clock::time_point{});
}

std::chrono::milliseconds LockedCall::linger() const {
  using std::chrono::milliseconds;
  if (terms_->hold_for.count() == 0) return milliseconds(0);
  const auto left = terms_->hold_for - (locks_->clock().now() - entered_);
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(left));
}

[[gnu::always_inline]] inline void LockedCall::release(std::chrono::milliseconds linger) {
  const ErrorContext context{origin_, terms_->lease};
  if (!hold_->give_back(linger, &context)) throw_lost();
}

[[gnu::always_inline]] inline void LockedCall::leave_plainly() {
  unlink();
  if (!hold_) return;  // it ran unlocked
  const std::chrono::milliseconds linger = this->linger();
  if (terms_->raises_loss || terms_->raises_unconfirmed) {
    try {
      release(linger);
    } catch (const LockError&) {
      failed_to_release();
    }
  } else {
    hold_->release_quietly_after(linger);
  }
  hold_.reset();
}

[[gnu::always_inline]] inline void LockedCall::leave_linked() {
  if (observed_ != nullptr) [[unlikely]]
    return leave_observed();
  leave_plainly();
}

[[gnu::noinline]] void LockedCall::leave_observed() {
  observed_->body_ended(hold());
  leave_plainly();
  ObservedCall::release(*this);
}

void LockedCall::leave() { leave_linked(); }

LockedScope::LockedScope(const LockTerms& terms, const Locks* locks, LockedSite& site,
                         const void* const* addresses)
    : locked_(terms, locks),
      in_flight_(this_thread.exceptions_in_flight()),
      entry_(locked_.enter_named(site, site, addresses)) {}

LockedScope::~LockedScope() noexcept(false) {
  if (locked_.linked_ && in_flight_ == exceptions_) locked_.leave_linked();
}

const unsigned& LockedScope::exceptions_in_flight() noexcept {
  return this_thread.exceptions_in_flight();
}

// The body released the hold itself, or this process is a forked child.
void LockedCall::throw_lost() const {
  const ErrorContext context{origin_, terms_->lease};
  LockSite site{.key = std::string(key_), .type = terms_->type, .backend = locks_->describe()};
  if (!key_.empty()) site.prefix = locks_->options().prefix;
  site.body_ran = true;
  context.describe(site);
  throw LockLost(std::move(site));
}

// The body has run under its lock, which ends with its lease.
void LockedCall::failed_to_release() const {
  try {
    throw;
  } catch (const LockLost& error) {
    if (observed_ != nullptr) observed_->lost(error);
    if (terms_->raises_loss) throw;
  } catch (const LockError& error) {
    if (observed_ != nullptr) observed_->unconfirmed();
    if (terms_->raises_unconfirmed) throw;
    report_failed_release(*locks_, error);
  }
}

void rethrow_from_body() {
  try {
    throw;
  } catch (Error& error) {
    error.note_body_ran();
    throw;
  }
}

void LockedCall::name(const KeyError& error, Site& site, std::string_view key_template) {
  site.give_name(terms_->name);
  if (!origin_.key_template.empty()) key_template = origin_.key_template;
  std::string sentence = site.where() + ": " + error.what();
  if (sentence.find(key_template) == std::string::npos) {
    sentence += "; key template '" + std::string(key_template) + "'";
  }
  throw KeyError(sentence + "; the body did not run");
}

namespace {

void report_hidden(const Locks* locks, LockType type, const Site& site, std::string_view key,
                   std::string_view what) {
  try {
    if (locks == nullptr) locks = &default_locks();
    Event event;
    event.kind = Event::Kind::hidden_error;
    event.type = type;
    event.key = key;
    event.origin.site = &site;
    event.owner = Owner::this_thread().number();
    // Errors about locks contain the method already.
    if (!what.starts_with(site.name())) event.text = std::string(site.name()) + ": ";
    event.text += what;
    locks->publish(event);
  } catch (...) {
    // Without Locks there is no listener; without memory there is no event.
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
    report_hidden(locks, type, site, error.key(), error.what());
  } catch (const std::exception& error) {
    report_hidden(locks, type, site, {}, error.what());
  } catch (...) {
    report_hidden(locks, type, site, {}, "something that is not a std::exception");
  }
  return Entry::unavailable;
}

}  // namespace latchkey::inline v1::detail
