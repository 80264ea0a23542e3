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

/// For a conversion that never is.
template <class T>
T nobodys();

/// Marks the place of a LOCKED_BY, whose text is no key but a policy's name.
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

/// What LOCKED says of its site: its key or keys, and what a policy is checked against.
template <FixedString KeyTemplate, class Decorator, class Call, class Result, const SiteNote* Inner>
inline constexpr SiteNote lock_note{Decorator::by_policy ? lock_by_kind : lock_kind,
                                    KeySet<KeyTemplate>::shown.view(), Inner,
                                    &lock_facts<Decorator, Call, Result>};

}  // namespace detail

/// Runs a body under the lock that `KeyTemplate` names, or under several locks at once if it has
/// [*] or was made by KEYS (Locks::all_of). Made by LOCKED(key, type, wait, lease), or by hand by
/// `latchkey::locked<"key">(place) * latchkey::terms(type, wait, lease)`; used before AROUND, in
/// DECORATED, or applied to a callable.
///
/// A call renders the key, acquires, runs the body, releases:
///
/// | what happens              | by default              | said otherwise                     |
/// |---------------------------|-------------------------|------------------------------------|
/// | busy for the whole wait   | LockTimeout             | on_timeout(skip), ...              |
/// | nobody can tell           | BackendUnavailable      | on_unavailable(skip), ...          |
/// | lost while the body ran   | LockLost after the body | on_lost(report): to the listener   |
/// | release was not confirmed | ReleaseUnconfirmed      | on_lost(report), on_unavailable(…) |
/// |                           |                         | but raise: to the listener         |
/// | the body throws           | released; it goes on    |                                    |
/// | anything else             | thrown                  | no_throw()                         |
///
/// The body's exception always wins. After LockLost and an unconfirmed release the body's work is
/// done: only its protection failed, or the end of it is not known. Error::body_ran() tells both
/// from errors before the body. Thread-safe as far as what it was given is.
template <FixedString KeyTemplate, class Where, class Options>
struct [[nodiscard("latchkey: LOCKED(...) alone locks nothing: write LOCKED(...) AROUND(arguments) "
                   "{ body }; or auto "
                   "hold = LOCKED(...) HERE(arguments);"),
         gnu::warn_unused]] Locked : Aspect {
  using Place = Where;
  using Terms = Options;
  /// Made by LOCKED_BY: `KeyTemplate` names a policy, which says everything.
  static constexpr bool by_policy = detail::is_by_policy<Where>;

  Options options;

  /// What the aspect core calls.
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
        // Only a policy lets such a call go on without its lock.
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

  /// Form (c) for a LOCKED in parentheses: a callable that locks at every call.
  template <class Function>
  auto operator()(Function&& function) const {
    return detail::decorate_at<Where>(Locked(*this), std::forward<Function>(function));
  }

  /// Nothing is: this is how the compiler comes to speak of a LOCKED without a body.
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

/// A key that waits for its terms.
template <FixedString KeyTemplate, class Where>
struct KeyAt {};

/// Binds below the members that were said of the terms and above `|`.
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

/// LOCKED by hand: `latchkey::locked<"key">(place) * latchkey::terms(type, wait, lease)`. `place`
/// is a captureless callable of a type of its own that says where a decorated callable was written:
/// `[] { return std::source_location::current(); }`.
template <FixedString KeyTemplate, class Where = detail::NoPlace>
detail::KeyAt<KeyTemplate, Where> locked(Where = {}) noexcept {
  return {};
}

/// LOCKED_BY by hand: `latchkey::locked_by<"money">(place) * latchkey::terms()`. Key, type, wait,
/// lease and strategies come from the policy of that name, which `install_from` loads; a call
/// before that throws NotConfigured. What is said behind it holds where the policy says nothing.
template <FixedString PolicyName, class Where = detail::NoPlace>
detail::KeyAt<PolicyName, detail::ByPolicy<Where>> locked_by(Where = {}) noexcept {
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
