// LOCKED: the aspect that runs a body under a lock.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <latchkey/aspect.hpp>
#include <latchkey/aspect/decorated.hpp>
#include <latchkey/attempt.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/key.hpp>
#include <latchkey/locked/checks.hpp>
#include <latchkey/locked/key_text.hpp>
#include <latchkey/locked/locked_call.hpp>
#include <latchkey/locked/options.hpp>
#include <latchkey/locked/outcomes.hpp>
#include <latchkey/locked/run.hpp>
#include <latchkey/site.hpp>
#include <latchkey/strategy.hpp>

namespace latchkey {
namespace detail {

/// What LOCKED says of its site: its key.
template <FixedString KeyText, class Call, const SiteNote* Inner>
inline constexpr SiteNote lock_note{"LOCKED", KeyText.view(), Inner};

}  // namespace detail

/// Runs a body under the lock that `KeyText` names. Made by LOCKED(key, type, wait, lease), or by
/// hand by `latchkey::locked<"key">(place) * latchkey::terms(type, wait, lease)`; used before
/// AROUND, in DECORATED, or applied to a callable.
///
/// A call renders the key, acquires, runs the body, releases:
///
/// | what happens              | by default              | said otherwise                     |
/// |---------------------------|-------------------------|------------------------------------|
/// | busy for the whole wait   | LockTimeout             | on_timeout(skip), ...              |
/// | nobody can tell           | BackendUnavailable      | on_unavailable(skip), ...          |
/// | lost while the body ran   | LockLost after the body | on_lost(report): to the listener   |
/// | release was not confirmed | BackendUnavailable      | on_lost(report): to the listener   |
/// | the body throws           | released; it goes on    |                                    |
/// | anything else             | thrown                  | no_throw()                         |
///
/// The body's exception always wins. After LockLost and an unconfirmed release the body's work is
/// done: only its protection failed, or the end of it is not known. Thread-safe as far as what it
/// was given is.
template <FixedString KeyText, class Where, class Options>
struct [[nodiscard]] Locked : Aspect {
  using Place = Where;

  Options options;

  /// What the aspect core calls.
  template <FixedString Names, class Here, std::size_t... Index, class... Arguments, class Proceed>
  auto around(detail::Call<Names, Here, std::index_sequence<Index...>, Arguments...>& call,
              Proceed&& proceed) const -> decltype(proceed()) {
    using Result = decltype(proceed());
    static_assert(
        detail::check<Result, Options, noexcept(proceed()), std::remove_cv_t<Arguments>...>());
    KeyBuffer key;
    detail::LockedCall locked(options.terms, options.place.get(), options.cancel.get());
    if constexpr (Options::always_runs) {
      Key<KeyText>::template render<Names>(key,
                                           *static_cast<const Arguments*>(call.address(Index))...);
      static_cast<void>(locked.enter(key.view(), call.own_site()));
    } else {
      auto enter = [&]() -> detail::Entry {
        Key<KeyText>::template render<Names>(
            key, *static_cast<const Arguments*>(call.address(Index))...);
        return locked.enter(key.view(), call.own_site());
      };
      const detail::Entry entry = detail::enter_if_wanted(options, call, enter);
      if (entry == detail::Entry::unneeded ||
          (Options::can_run_unlocked && entry == detail::Entry::timeout)) {
        locked.enter_unlocked();
      } else if (entry != detail::Entry::held) {
        return detail::run_nothing<Result>(options, entry, call);
      }
    }
    if constexpr (std::is_void_v<Result>) {
      proceed();
      locked.leave();
    } else if constexpr (std::is_reference_v<Result>) {
      Result result = proceed();
      locked.leave();
      return static_cast<Result>(result);
    } else if constexpr (std::is_move_constructible_v<Result>) {
      Result result = proceed();
      locked.leave();
      return result;
    } else {
      const detail::LeaveAtEnd leave(locked);
      return proceed();
    }
  }

  /// Form (c) for a LOCKED in parentheses: a callable that locks at every call.
  template <class Function>
  auto operator()(Function&& function) const {
    return detail::decorate_at<Where>(Locked(*this), std::forward<Function>(function));
  }

  static constexpr const char* fixed_site_name() noexcept { return Options::fixed_name(); }
  template <class Call, const SiteNote* Inner>
  static constexpr const SiteNote* site_notes() noexcept {
    return &detail::lock_note<KeyText, Call, Inner>;
  }
};

namespace detail {

/// A key that waits for its terms.
template <FixedString KeyText, class Where>
struct KeyAt {};

/// Binds below the members that were said of the terms and above `|`.
template <FixedString KeyText, class Where, class Options>
Locked<KeyText, Where, Options> operator*(KeyAt<KeyText, Where>, Options&& options) {
  return {{}, std::move(options)};
}
template <FixedString KeyText, class Where, class Options, class Function>
auto operator*(KeyAt<KeyText, Where>, Applied<Options, Function>&& applied) {
  return decorate_at<Where>(Locked<KeyText, Where, Options>{{}, std::move(applied.options)},
                            std::move(applied.function));
}

}  // namespace detail

/// LOCKED by hand: `latchkey::locked<"key">(place) * latchkey::terms(type, wait, lease)`. `place`
/// is a captureless callable of a type of its own that says where a decorated callable was written:
/// `[] { return std::source_location::current(); }`.
template <FixedString KeyText, class Where = detail::NoPlace>
detail::KeyAt<KeyText, Where> locked(Where = {}) noexcept {
  static_assert(
      !Key<KeyText>::many,
      "latchkey: [*] locks one key for each element at once, which LOCKED does not do yet: "
      "name one key");
  return {};
}

/// What stands after the key in LOCKED, each only if those before it are there: a LockType
/// (REENTRANT), a wait (3 s), a lease (30 s).
template <class... Terms>
LockOptions<> terms(const Terms&... said) {
  if constexpr (detail::CheckTerms<Terms...>::good) {
    return {.terms = detail::make_terms(said...)};
  } else {
    return {};
  }
}

}  // namespace latchkey
