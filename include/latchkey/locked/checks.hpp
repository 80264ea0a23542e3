// The compile errors for a wrong LOCKED.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <latchkey/lease.hpp>
#include <latchkey/locked/outcomes.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// Checks one strategy against one result type. All sites with the same two share it. The
/// compiler's lines around the message name the result: `CheckStrategy<int, latchkey::Skip>`.
template <class Result, class Strategy>
struct CheckStrategy {
  static_assert(
      !std::is_same_v<Strategy, Skip> || can_be_skipped<Result>(),
      "latchkey: `skip` needs a result from which 'it did not happen' can be told: void, a "
      "pointer, std::optional or an expected (no_throw() says skip where nothing else is said). "
      "For "
      "the Result named here say skip_with(value), fallback(function) or raise; where the method "
      "returns an optional and its body deduces less, say AROUND(...) -> std::optional<T>");
  static_assert(!is_skip_with<Strategy> || !std::is_reference_v<Result>,
                "latchkey: `skip_with` keeps a value of its own, which a result by reference would "
                "outlive: say fallback(function) with a function that returns the reference");
};
template <class Result, class Value>
  requires(!std::is_reference_v<Result>)
struct CheckStrategy<Result, SkipWith<Value>> {
  static_assert(!std::is_void_v<Result>,
                "latchkey: the body returns nothing, so there is nothing to `skip_with`: say skip");
  static_assert(
      std::is_void_v<Result> || std::is_convertible_v<const Value&, Result>,
      "latchkey: the value given to `skip_with` is not copied into the body's Result: its "
      "type must convert to it; for a move-only result say fallback(function)");
};

template <class Function, class... Arguments>
constexpr auto fallback_result() {
  using Fit = typename FallbackFor<Function>::template With<Arguments...>;
  if constexpr (Fit::takes_arguments) {
    return std::type_identity<std::invoke_result_t<const Function&, const Arguments&...>>();
  } else if constexpr (Fit::takes_nothing) {
    return std::type_identity<std::invoke_result_t<const Function&>>();
  } else {
    return std::type_identity<NotRun>();
  }
}

template <class Result, class Function, class... Arguments>
struct CheckFallback {
  static constexpr bool callable = FallbackFor<Function>::template With<Arguments...>::callable;
  using Given = typename decltype(fallback_result<Function, Arguments...>())::type;
  static_assert(callable,
                "latchkey: the function given to `fallback` is called with the arguments named in "
                "AROUND, as const, or with none: it takes neither");
  static_assert(!callable || gives<Result, Given>,
                "latchkey: the function given to `fallback` returns what does not convert to the "
                "body's Result (for a reference: it must return a reference)");
};

template <class Result, class Strategy, class... Arguments>
struct CheckFor : CheckStrategy<Result, Strategy> {};
template <class Result, class Function, class... Arguments>
struct CheckFor<Result, Fallback<Function>, Arguments...>
    : CheckFallback<Result, Function, Arguments...> {};

/// Requirements on every result type.
template <class Result>
struct CheckResult {
  static_assert(
      completes_at_return<std::remove_cv_t<Result>>,
      "latchkey: the result of this body runs later, when the lock is free again: a future, "
      "awaitable, coroutine, generator, view or callable. Wait for it inside the body, or "
      "say that it is done: template <> inline constexpr bool "
      "latchkey::completes_at_return<Result> = true;");
};

/// Checks the options against the body's noexcept.
template <class Result, class Options, bool NoThrowBody>
struct CheckThrows {
  static_assert(!NoThrowBody || Options::never_throws,
                "latchkey: this body is noexcept, but its lock may throw (LockTimeout, LockLost, "
                "BackendUnavailable, KeyError): add .no_throw() after LOCKED(...)");
  static_assert(!Options::never_throws || (!std::is_same_v<typename Options::Timeout, Raise> &&
                                           !std::is_same_v<typename Options::Unavailable, Raise>),
                "latchkey: .no_throw() and on_timeout(raise) or on_unavailable(raise) contradict "
                "each other; use skip, skip_with(value) or fallback(function)");
};

template <class Result, class Options, bool NoThrowBody, class... Arguments>
consteval bool check() {
  static_cast<void>(sizeof(CheckResult<Result>));
  static_cast<void>(sizeof(CheckThrows<Result, Options, NoThrowBody>));
  if constexpr (!Options::always_runs) {
    static_cast<void>(sizeof(CheckFor<Result, typename Options::Timeout, Arguments...>));
    static_cast<void>(sizeof(CheckFor<Result, typename Options::Unavailable, Arguments...>));
  }
  return true;
}

/// The strategies that on_timeout and on_unavailable accept (on_timeout also RunUnlocked).
template <class Strategy>
inline constexpr bool is_entry_strategy =
    std::is_same_v<Strategy, Raise> || std::is_same_v<Strategy, Skip> || is_skip_with<Strategy> ||
    is_fallback<Strategy>;

/// The terms after the key: a LockType, then a wait, then a lease.
template <class... Terms>
struct CheckTerms;

template <>
struct CheckTerms<> {
  static constexpr bool good = true;
};

template <class Term>
inline constexpr bool is_number = std::is_arithmetic_v<Term>;

template <class Type, class... Rest>
struct CheckTerms<Type, Rest...> {
  static_assert(
      std::is_same_v<Type, LockType>,
      "latchkey: after the key LOCKED takes a LockType, then a wait, then a lease, in this "
      "order: LOCKED(\"account:{account.id}\", LockType::WRITE, 3s, 30s). The second "
      "argument is not a LockType");
  static constexpr bool good = std::is_same_v<Type, LockType>;
};

template <class Type, class Wanted, class... Rest>
struct CheckTerms<Type, Wanted, Rest...> : CheckTerms<Type> {
  static_assert(!is_number<Wanted>,
                "latchkey: a wait has a unit: write 3s (using namespace std::chrono_literals), "
                "std::chrono::milliseconds(250) or latchkey::forever, not a bare number");
  static_assert(
      !std::is_same_v<Wanted, Watchdog>,
      "latchkey: watchdog is a lease, the fourth argument of LOCKED; the third is the wait: "
      "LOCKED(key, LockType::WRITE, 3s, latchkey::watchdog)");
  static_assert(
      is_number<Wanted> || std::is_same_v<Wanted, Watchdog> ||
          std::is_convertible_v<const Wanted&, Wait>,
      "latchkey: the third argument of LOCKED is how long to wait: a std::chrono duration "
      "or latchkey::forever");
  static constexpr bool good = CheckTerms<Type>::good && std::is_convertible_v<const Wanted&, Wait>;
};

template <class Type, class Wanted, class Granted>
struct CheckTerms<Type, Wanted, Granted> : CheckTerms<Type, Wanted> {
  static_assert(!is_number<Granted>,
                "latchkey: a lease has a unit: write 30s (using namespace std::chrono_literals), "
                "std::chrono::minutes(1) or latchkey::watchdog, not a bare number");
  static_assert(
      !std::is_same_v<Granted, Forever>,
      "latchkey: forever is a wait, the third argument of LOCKED; a lease without an end is "
      "latchkey::watchdog: held as long as this process lives");
  static_assert(is_number<Granted> || std::is_same_v<Granted, Forever> ||
                    std::is_convertible_v<const Granted&, Lease>,
                "latchkey: the fourth argument of LOCKED is the lease: a std::chrono duration or "
                "latchkey::watchdog");
  static constexpr bool good =
      CheckTerms<Type, Wanted>::good && std::is_convertible_v<const Granted&, Lease>;
};

template <class Type, class Wanted, class Granted, class Fifth, class... Rest>
struct CheckTerms<Type, Wanted, Granted, Fifth, Rest...> {
  static_assert(
      std::is_void_v<Fifth>,
      "latchkey: LOCKED takes a key, a LockType, a wait and a lease; everything else is a "
      "member, as in LOCKED(...).on_timeout(latchkey::skip).named(\"transfer\")");
  static constexpr bool good = false;
};

inline LockTerms make_terms() { return {}; }
inline LockTerms make_terms(LockType type) { return {.type = type, .says_type = true}; }
inline LockTerms make_terms(LockType type, Wait wait) {
  return {.type = type, .wait = wait, .says_type = true, .says_wait = true};
}
inline LockTerms make_terms(LockType type, Wait wait, Lease lease) {
  return {.type = type,
          .wait = wait,
          .lease = lease,
          .says_type = true,
          .says_wait = true,
          .says_lease = true};
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
