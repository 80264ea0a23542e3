// The compile errors for a wrong LOCKED.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <latchkey/detail/locked/outcomes.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// Whether the value of `skip_with` becomes the result; also for other strategies.
template <class Result, class Strategy>
inline constexpr bool gives_value = true;
template <class Result, class Value>
  requires(!std::is_void_v<Result> && !std::is_reference_v<Result>)
inline constexpr bool gives_value<Result, strategy::SkipWith<Value>> =
    std::is_convertible_v<const Value&, Result>;

/// How the function of `fallback` fits the arguments and the result; also for other strategies.
template <class Result, class Strategy, class... Arguments>
struct FallbackFit {
  static constexpr bool callable = true;
  static constexpr bool gives_result = true;
};
template <class Result, class Function, class... Arguments>
struct FallbackFit<Result, strategy::Fallback<Function>, Arguments...>
    : FallbackFor<Function>::template With<Arguments...> {
  using Fit = typename FallbackFor<Function>::template With<Arguments...>;

  static constexpr bool gives_result = [] {
    if constexpr (Fit::takes_arguments) {
      return gives<Result, std::invoke_result_t<const Function&, const Arguments&...>>;
    } else if constexpr (Fit::takes_nothing) {
      return gives<Result, std::invoke_result_t<const Function&>>;
    } else {
      return true;  // the error is that it cannot be called
    }
  }();
};

/// Checks the options against the result, the arguments and the noexcept of the body. All sites
/// with the same ones share it. The assertions stand here, and not in types of their own: GCC shows
/// each function or type between the user's line and the error before the error. Its line about
/// this function names the result.
template <class Result, class Options, bool NoThrowBody, class... Arguments>
struct OptionsCheck {
  static consteval bool run() {
    using Timeout = typename Options::Timeout;
    using Unavailable = typename Options::Unavailable;
    static_assert(
        completes_at_return<std::remove_cv_t<Result>>,
        "latchkey: the result of this body runs later, when the lock is free again: a future, "
        "awaitable, coroutine, generator, view or callable. Wait for it inside the body, or "
        "say that it is done: template <> inline constexpr bool "
        "latchkey::completes_at_return<Result> = true;");
    static_assert(!NoThrowBody || Options::never_throws,
                  "latchkey: this body is noexcept, but its lock may throw (LockTimeout, LockLost, "
                  "BackendUnavailable, KeyError): add .no_throw() after LOCKED(...)");
    if constexpr (!Options::always_runs) {
      static_assert(
          !Options::never_throws || (!std::is_same_v<Timeout, strategy::Raise> &&
                                     !std::is_same_v<Unavailable, strategy::Raise>),
          "latchkey: .no_throw() and on_timeout(raise) or on_unavailable(raise) contradict "
          "each other; use skip, skip_with(value) or fallback(function)");
      static_assert(
          (!std::is_same_v<Timeout, strategy::Skip> &&
           !std::is_same_v<Unavailable, strategy::Skip>) ||
              can_be_skipped<Result>(),
          "latchkey: `skip` needs a result from which 'it did not happen' can be told: void, a "
          "pointer, std::optional or an expected (no_throw() says skip where nothing else is "
          "said). "
          "For "
          "the Result named here say skip_with(value), fallback(function) or raise; where the "
          "method "
          "returns an optional and its body deduces less, say AROUND(...) -> std::optional<T>");
      constexpr bool skips_with = is_skip_with<Timeout> || is_skip_with<Unavailable>;
      static_assert(!skips_with || !std::is_reference_v<Result>,
                    "latchkey: `skip_with` keeps a value of its own, which a result by reference "
                    "would outlive: say fallback(function) with a function that returns the "
                    "reference");
      static_assert(!skips_with || !std::is_void_v<Result>,
                    "latchkey: the body returns nothing, so there is nothing to `skip_with`: say "
                    "skip");
      static_assert(
          gives_value<Result, Timeout> && gives_value<Result, Unavailable>,
          "latchkey: the value given to `skip_with` is not copied into the body's Result: its "
          "type must convert to it; for a move-only result say fallback(function)");
      using OnTimeout = FallbackFit<Result, Timeout, Arguments...>;
      using OnUnavailable = FallbackFit<Result, Unavailable, Arguments...>;
      static_assert(OnTimeout::callable && OnUnavailable::callable,
                    "latchkey: the function given to `fallback` is called with the arguments named "
                    "in AROUND, as const, or with none: it takes neither");
      static_assert(
          OnTimeout::gives_result && OnUnavailable::gives_result,
          "latchkey: the function given to `fallback` returns what does not convert to the "
          "body's Result (for a reference: it must return a reference)");
    }
    return true;
  }
};

/// The strategies that on_timeout and on_unavailable accept (on_timeout also RunUnlocked).
template <class Strategy>
inline constexpr bool is_entry_strategy =
    std::is_same_v<Strategy, strategy::Raise> || std::is_same_v<Strategy, strategy::Skip> ||
    is_skip_with<Strategy> || is_fallback<Strategy>;

template <class Term>
inline constexpr bool is_number = std::is_arithmetic_v<Term>;

/// Checks the terms after the key: a LockType, then a wait, then a lease. False after an error that
/// forbids to use them.
template <class Type = LockType, class Wanted = Forever, class Granted = Watchdog, class... Rest>
consteval bool check_terms() {
  static_assert(
      sizeof...(Rest) == 0,
      "latchkey: LOCKED takes a key, a LockType, a wait and a lease; everything else is "
      "a member, as in LOCKED(...).on_timeout(latchkey::strategy::skip).named(\"transfer\")");
  if constexpr (sizeof...(Rest) == 0) {
    static_assert(
        std::is_same_v<Type, LockType>,
        "latchkey: after the key LOCKED takes a LockType, then a wait, then a lease, in this "
        "order: LOCKED(\"account:{account.id}\", LockType::WRITE, 3s, 30s). The second "
        "argument is not a LockType");
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
  }
  return sizeof...(Rest) == 0 && std::is_same_v<Type, LockType> &&
         std::is_convertible_v<const Wanted&, Wait> && std::is_convertible_v<const Granted&, Lease>;
}

/// The type of a lock whose name the words after the key in LOCKED begin with; PERMIT: there is
/// none.
constexpr LockType named_type(std::string_view words) {
  std::string_view type = words.substr(0, words.find(','));
  if (type.find('?') != type.npos) return LockType::PERMIT;
  while (type.ends_with(' ')) type.remove_suffix(1);
  const std::size_t scope = type.rfind("::");
  if (scope != type.npos) {
    if (!type.substr(0, scope).ends_with("LockType")) return LockType::PERMIT;
    type.remove_prefix(scope + 2);
  }
  return parse_lock_type(type).value_or(LockType::PERMIT);
}

constexpr LockTerms make_terms() { return {}; }
constexpr LockTerms make_terms(LockType type) { return {.type = type, .says_type = true}; }
constexpr LockTerms make_terms(LockType type, Wait wait) {
  return {.type = type, .wait = wait, .says_type = true, .says_wait = true};
}
constexpr LockTerms make_terms(LockType type, Wait wait, Lease lease) {
  return {.type = type,
          .wait = wait,
          .lease = lease,
          .says_type = true,
          .says_wait = true,
          .says_lease = true};
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
