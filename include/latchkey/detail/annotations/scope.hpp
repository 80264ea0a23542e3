// The locks of LOCK_ANNOTATED: from the word to the end of its scope.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <meta>
#include <type_traits>

#include <latchkey/detail/annotations/binding.hpp>
#include <latchkey/detail/locked/locked_scope.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/detail/locked/outcomes.hpp>
#include <latchkey/lock_options.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The aspect of a LOCKED without its key and place.
template <class Ready>
using LockedAspectOf = std::remove_cvref_t<decltype(Ready::decorator)>;

/// The scope of a lock whose body runs unless an error is thrown or a policy skips it.
template <class Aspect, class Result, bool proxied>
class PlainScope : public LockedScope {
  using Options = decltype(Aspect::options);
  static_assert(
      std::is_same_v<typename Options::template Type<Setting::cancel_with>, NeverCancelled>);

 public:
  static constexpr bool always_runs = !can_be_skipped<Result>();

  PlainScope(const Aspect& aspect, LockedSite& site, const void* const* addresses)
    requires(!proxied)
      : LockedScope(aspect.options.terms, aspect.options.locks(), site, addresses) {}
  [[gnu::noinline]] PlainScope(const Aspect& aspect, LockedSite& site, const void* const* addresses)
    requires proxied
      : LockedScope(aspect.options) {
    entry_ = ProxiedCall::holds(site, addresses) ? Entry::unneeded
                                                 : locked_.enter(site, site, addresses);
  }

  /// The result, if the body does not run.
  [[nodiscard]] Result without_body() const {
    if constexpr (can_be_skipped<Result>()) {
      return skipped<Result>(entry_);
    } else {
      std::terminate();  // not reached: a policy cannot skip this body
    }
  }
};

/// The scope of a lock whose options decide how the body is entered, or what the function returns
/// instead.
template <class Ready, class Result, bool proxied>
class ChoosingScope : public LockedScope {
 public:
  static constexpr bool always_runs = false;

  ChoosingScope(const LockedAspectOf<Ready>& aspect, LockedSite& site, const void* const* addresses)
      : LockedScope(aspect.options), ready_{{aspect, addresses}} {
    entry_ = proxied && ProxiedCall::holds(site, addresses)
                 ? Entry::unneeded
                 : ready_.template enter<Result>(locked_);
  }
  ChoosingScope(const ChoosingScope&) = delete;
  ChoosingScope& operator=(const ChoosingScope&) = delete;
  ~ChoosingScope() noexcept(Ready::Options::never_throws) = default;

  [[nodiscard]] Result without_body() const { return ready_.template without_body<Result>(entry_); }

 private:
  Ready ready_;
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
