// The locks of LOCK_ANNOTATED: from the word to the end of its scope.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cxxabi.h>

#include <exception>
#include <meta>
#include <type_traits>

#include <latchkey/annotations/binding.hpp>
#include <latchkey/locked/locked_call.hpp>
#include <latchkey/locked/locked_site.hpp>
#include <latchkey/locked/options.hpp>
#include <latchkey/locked/outcomes.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// std::uncaught_exceptions without its call into the C++ runtime: the Itanium C++ ABI (2.2.2) says
/// what __cxa_get_globals returns, which stays where it is as long as the thread lives.
[[nodiscard, gnu::always_inline]] inline unsigned exceptions_in_flight() noexcept {
  struct Globals {
    void* caught;
    unsigned uncaught;
  };
  static constinit thread_local const Globals* globals = nullptr;
  if (globals == nullptr) [[unlikely]] {
    globals = reinterpret_cast<const Globals*>(abi::__cxa_get_globals());
  }
  return globals->uncaught;
}

/// Ends as the call of a LOCKED does: its destructor releases, and throws LockLost,
/// ReleaseUnconfirmed and BackendRefused after a body that returned. All functions share the scope
/// of equal option types, so it knows neither the function nor its key.
template <class Options>
class AnnotatedScope {
 public:
  AnnotatedScope(const AnnotatedScope&) = delete;
  AnnotatedScope& operator=(const AnnotatedScope&) = delete;
  [[gnu::noinline]] ~AnnotatedScope() noexcept(Options::never_throws) {
    if (entry_ == Entry::held && exceptions_in_flight() == exceptions_) locked_.leave();
  }

  [[nodiscard]] bool runs() const noexcept {
    return entry_ == Entry::held || entry_ == Entry::unneeded;
  }

 protected:
  explicit AnnotatedScope(const Options& options) noexcept : locked_(options) {}

  /// Whether the proxy that called this function has taken the lock.
  [[nodiscard]] bool is_held_by_proxy(const LockedSite& site, const void* const* addresses) {
    if (!ProxiedCall::holds(site, addresses)) return false;
    entry_ = Entry::unneeded;
    return true;
  }

  LockedCall locked_;
  unsigned exceptions_ = exceptions_in_flight();
  Entry entry_ = Entry::unavailable;  // unneeded: a proxy holds the lock of this call
};

/// The aspect of a LOCKED without its key and place.
template <class Ready>
using LockedAspectOf = std::remove_cvref_t<decltype(Ready::decorator)>;

/// The scope of a lock whose body runs unless an error is thrown or a policy skips it. Functions
/// with equal option types and results share it. A virtual function may be `proxied`.
template <class Aspect, class Result, bool proxied>
class PlainScope : public AnnotatedScope<decltype(Aspect::options)> {
  using Scope = AnnotatedScope<decltype(Aspect::options)>;

 public:
  static constexpr bool always_runs = !can_be_skipped<Result>();

  [[gnu::noinline]] PlainScope(const Aspect& aspect, LockedSite& site, const void* const* addresses)
      : Scope(aspect.options) {
    if constexpr (proxied) {
      if (this->is_held_by_proxy(site, addresses)) return;
    }
    this->entry_ = this->locked_.enter(site, site, addresses);
  }

  /// The result, if the body does not run.
  [[nodiscard]] Result without_body() const {
    if constexpr (can_be_skipped<Result>()) {
      return skipped<Result>(this->entry_);
    } else {
      std::terminate();  // not reached: a policy cannot skip this body
    }
  }
};

/// The scope of a lock whose options decide how the body is entered, or what the function returns
/// instead.
template <class Ready, class Result, bool proxied>
class ChoosingScope : public AnnotatedScope<typename Ready::Options> {
  using Scope = AnnotatedScope<typename Ready::Options>;

 public:
  static constexpr bool always_runs = false;

  ChoosingScope(const LockedAspectOf<Ready>& aspect, LockedSite& site, const void* const* addresses)
      : Scope(aspect.options), ready_{{aspect, addresses}} {
    if constexpr (proxied) {
      if (this->is_held_by_proxy(site, addresses)) return;
    }
    this->entry_ = ready_.template enter<Result>(this->locked_);
  }

  [[nodiscard]] Result without_body() const {
    return ready_.template without_body<Result>(this->entry_);
  }

 private:
  Ready ready_;
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
