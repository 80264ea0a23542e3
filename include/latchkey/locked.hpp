// LOCKED: the aspect that runs a body under a lock.
#pragma once

#include <latchkey/cxx20.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

#include <latchkey/aspect.hpp>
#include <latchkey/aspect/decorated.hpp>
#include <latchkey/attempt.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/key.hpp>
#include <latchkey/key/schema.hpp>
#include <latchkey/locked/checks.hpp>
#include <latchkey/locked/key_set.hpp>
#include <latchkey/locked/key_text.hpp>
#include <latchkey/locked/locked_call.hpp>
#include <latchkey/locked/options.hpp>
#include <latchkey/locked/outcomes.hpp>
#include <latchkey/locked/run.hpp>
#include <latchkey/locked/scope.hpp>
#include <latchkey/locked/site_policy.hpp>
#include <latchkey/site.hpp>
#include <latchkey/strategy.hpp>

namespace latchkey {
namespace detail {

/// Declared for a conversion that is never instantiated.
template <class T>
T nobodys();

/// Marks a LOCKED_BY. Its text is the name of a policy and not a key.
template <class Where>
struct ByPolicy : Where {};
template <class Where>
inline constexpr bool is_by_policy = false;
template <class Where>
inline constexpr bool is_by_policy<ByPolicy<Where>> = true;

template <class Call>
struct CallSchema;
template <FixedString Names, class Where, class Indices, class... Arguments>
struct CallSchema<Call<Names, Where, Indices, Arguments...>> {
  static constexpr Schema value = schema_of<Names, std::remove_cv_t<Arguments>...>();
};

template <class Decorator, class Call, class Result>
inline constexpr LockFacts lock_facts{
    &policy_slot<Decorator, Call, Result>,
    CallSchema<Call>::value,
    Decorator::by_policy,
    can_be_skipped<Result>(),
    Decorator::Terms::never_throws,
    !std::is_same_v<typename Decorator::Terms::Timeout, Raise>,
    !std::is_same_v<typename Decorator::Terms::Unavailable, Raise>,
    is_for_scope<Call>};

/// The note of a LOCKED site: its key or keys, and the facts that a policy is checked against.
template <FixedString KeyTemplate, class Decorator, class Call, class Result, const SiteNote* Inner>
inline constexpr SiteNote lock_note{Decorator::by_policy ? lock_by_kind : lock_kind,
                                    KeySet<KeyTemplate>::shown.view(), Inner,
                                    &lock_facts<Decorator, Call, Result>};

}  // namespace detail

/// Runs a body under the lock that `KeyTemplate` names. If the template has [*] or was made by
/// KEYS, it runs the body under several locks at once (Locks::all_of). The macro form is
/// LOCKED(key, type, wait, lease); the form without macros is `latchkey::locked<"key">(place) *
/// latchkey::terms(type, wait, lease)`. It stands before AROUND or in DECORATED, or is applied to a
/// callable.
///
/// A call renders the key, acquires the lock, runs the body and releases the lock:
///
/// | event                      | by default              | alternatives                       |
/// |----------------------------|-------------------------|------------------------------------|
/// | busy for the whole wait    | LockTimeout             | on_timeout(skip), ...              |
/// | no definite backend reply  | BackendUnavailable      | on_unavailable(skip), ...          |
/// | lost while the body ran    | LockLost after the body | on_lost(report): to the listener   |
/// | release was not confirmed  | ReleaseUnconfirmed      | on_lost(report), or on_unavailable |
/// |                            |                         | with anything but raise: to the    |
/// |                            |                         | listener                           |
/// | the body throws            | released, then rethrown |                                    |
/// | any other error            | thrown                  | no_throw()                         |
///
/// The body's exception takes precedence over errors of the lock. After LockLost and
/// ReleaseUnconfirmed the body's work is done: its protection ended too early, or the end of its
/// protection is unknown. Error::body_ran() distinguishes these two from errors before the body. A
/// call is thread-safe if its arguments and the functions in its options are.
template <FixedString KeyTemplate, class Where, class Options>
struct [[nodiscard("latchkey: LOCKED(...) alone locks nothing: write LOCKED(...) AROUND(arguments) "
                   "{ body }; or auto "
                   "hold = LOCKED(...) HERE(arguments);"),
         gnu::warn_unused]] Locked : Aspect {
  using Place = Where;
  using Terms = Options;
  /// Made by LOCKED_BY: `KeyTemplate` names a policy, and the policy supplies all settings.
  static constexpr bool by_policy = detail::is_by_policy<Where>;

  Options options;

  /// Called by the aspect core (aspect.hpp).
  template <FixedString Names, class Here, std::size_t... Index, class... Arguments, class Proceed>
  auto around(detail::Call<Names, Here, std::index_sequence<Index...>, Arguments...>& call,
              Proceed&& proceed) const -> decltype(proceed()) {
    using Result = decltype(proceed());
    static_assert(
        detail::check<Result, Options, noexcept(proceed()), std::remove_cv_t<Arguments>...>());
    KeyBuffer key;
    detail::LockedCall locked(options.terms, options.locks(), options.stop_token());
    constexpr std::string_view shown = detail::KeySet<KeyTemplate>::shown.view();
    auto enter = [&]() -> detail::Entry {
      const detail::SitePolicy* const policy =
          locked.follow(detail::policy_slot<Locked, std::remove_cvref_t<decltype(call)>, Result>);
      if (policy != nullptr && policy->says_key()) {
        return locked.enter_by_policy(*policy, key, {call.addresses(), sizeof...(Arguments)},
                                      call.own_site());
      }
      if constexpr (by_policy) {
        detail::throw_not_configured(KeyTemplate.view());
      } else if constexpr (detail::KeySet<KeyTemplate>::several) {
        return locked.enter_all(detail::KeySet<KeyTemplate>::template render<Names>(
                                    *static_cast<const Arguments*>(call.address(Index))...),
                                detail::shown_keys<KeyTemplate>.view(), call.own_site());
      } else {
        Key<KeyTemplate>::template render<Names>(
            key, *static_cast<const Arguments*>(call.address(Index))...);
        return locked.enter(key.view(), KeyTemplate.view(), call.own_site());
      }
    };
    if constexpr (Options::always_runs) {
      const detail::Entry entry = detail::enter_named(locked, call, shown, enter);
      if constexpr (detail::can_be_skipped<Result>()) {
        // Only a policy can let such a call continue without its lock.
        if (entry != detail::Entry::held && locked.decided(entry) != detail::Entry::held) {
          return detail::skipped<Result>(entry);
        }
      } else {
        if (entry != detail::Entry::held) static_cast<void>(locked.decided(entry));
      }
    } else {
      const detail::Entry entry =
          locked.decided(detail::enter_if_wanted(options, locked, call, shown, enter));
      if constexpr (detail::can_be_skipped<Result>()) {
        if (entry == detail::Entry::skipped_timeout ||
            entry == detail::Entry::skipped_unavailable) {
          return detail::skipped<Result>(entry);
        }
      }
      if (entry == detail::Entry::unneeded ||
          (Options::can_run_unlocked && entry == detail::Entry::timeout)) {
        locked.enter_unlocked();
      } else if (entry != detail::Entry::held) {
        return detail::run_nothing<Result>(options, entry, call);
      }
    }
    if constexpr (std::is_void_v<Result>) {
      detail::run_body(proceed);
      locked.leave();
    } else if constexpr (std::is_reference_v<Result>) {
      Result result = detail::run_body(proceed);
      locked.leave();
      return static_cast<Result>(result);
    } else if constexpr (std::is_move_constructible_v<Result>) {
      Result result = detail::run_body(proceed);
      locked.leave();
      return result;
    } else {
      const detail::LeaveAtEnd leave(locked);
      return detail::run_body(proceed);
    }
  }

  /// `(LOCKED(...))(function)`: makes a callable that locks at every call.
  template <class Function>
  auto operator()(Function&& function) const {
    return detail::decorate_at<Where>(Locked(*this), std::forward<Function>(function));
  }

  /// Never converts. It exists for the compile error about a LOCKED without a body.
  template <class T>
    requires(!detail::is_aspect<T>)
  operator T() const {  // NOLINT(google-explicit-constructor)
    static_assert(detail::never<T>,
                  "latchkey: LOCKED(...) alone locks nothing and is no result: write LOCKED(...) "
                  "AROUND(arguments) { body }; or auto hold = LOCKED(...) HERE(arguments);");
    return detail::nobodys<T>();
  }

  static constexpr const char* fixed_site_name() noexcept { return Options::fixed_name(); }
  template <class Call, class Result, const SiteNote* Inner>
  static constexpr const SiteNote* site_notes() noexcept {
    return &detail::lock_note<KeyTemplate, Locked, Call, Result, Inner>;
  }
};

namespace detail {

/// A key template, before `*` adds its terms.
template <FixedString KeyTemplate, class Where>
struct KeyAt {};

/// `*` binds weaker than the member calls on the terms, and stronger than `|`.
template <FixedString KeyTemplate, class Where, class Options>
Locked<KeyTemplate, Where, Options> operator*(KeyAt<KeyTemplate, Where>, Options&& options) {
  return {{}, std::move(options)};
}
template <FixedString KeyTemplate, class Where, class Options, class Function>
auto operator*(KeyAt<KeyTemplate, Where>, Applied<Options, Function>&& applied) {
  return decorate_at<Where>(Locked<KeyTemplate, Where, Options>{{}, std::move(applied.options)},
                            std::move(applied.function));
}

}  // namespace detail

/// LOCKED without the macro: `latchkey::locked<"key">(place) * latchkey::terms(type, wait, lease)`.
/// `place` is a captureless callable of a unique type. It returns the source location of a
/// decorated callable: `[] { return std::source_location::current(); }`.
template <FixedString KeyTemplate, class Where = detail::NoPlace>
detail::KeyAt<KeyTemplate, Where> locked(Where = {}) noexcept {
  return {};
}

/// LOCKED_BY without the macro: `latchkey::locked_by<"money">(place) * latchkey::terms()`. The
/// policy of that name, which `install_from` loads, supplies key, type, wait, lease and strategies.
/// A call before `install_from` throws NotConfigured. Options written after it apply to everything
/// that the policy does not set.
template <FixedString PolicyName, class Where = detail::NoPlace>
detail::KeyAt<PolicyName, detail::ByPolicy<Where>> locked_by(Where = {}) noexcept {
  return {};
}

/// The terms that follow the key in LOCKED, in this order: a LockType (default REENTRANT), a wait
/// (3 s), a lease (30 s). A term can be given only if all before it are given.
template <class... Terms>
LockOptions<> terms(const Terms&... said) {
  if constexpr (detail::CheckTerms<Terms...>::good) {
    return {.terms = detail::make_terms(said...)};
  } else {
    return {};
  }
}

}  // namespace latchkey
