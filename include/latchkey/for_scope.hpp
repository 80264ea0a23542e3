// HERE: the hold of a LOCKED for the rest of a scope.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/aspect.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/detail/name_list.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_options.hpp>
#include <latchkey/strategy.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

template <class Text, class Settings>
struct Locked;

namespace detail {

/// Marks a HERE, which has no body.
template <class Where>
struct ForScope : Where {};

template <class Where>
inline constexpr bool is_for_scope = false;
template <class Where>
inline constexpr bool is_for_scope<ForScope<Where>> = true;

template <class Strategy>
inline constexpr bool fits_scope =
    std::is_same_v<Strategy, strategy::Raise> || std::is_same_v<Strategy, strategy::Skip>;

/// The compile errors for a wrong HERE.
template <class Options>
consteval bool check_scope() {
  static_assert(fits_scope<typename Options::Timeout>,
                "latchkey: HERE has no body whose result on_timeout could give: before HERE say "
                "on_timeout(raise), or on_timeout(skip), which makes it a std::optional<Hold>; "
                "skip_with, fallback and run_unlocked_dangerously need AROUND(...) { body }");
  static_assert(fits_scope<typename Options::Unavailable>,
                "latchkey: HERE has no body whose result on_unavailable could give: before HERE "
                "say on_unavailable(raise), or on_unavailable(skip), which makes it a "
                "std::optional<Hold>; skip_with and fallback need AROUND(...) { body }");
  static_assert(Options::always_asked,
                "latchkey: HERE always takes the lock: instead of .when(condition) write `if "
                "(condition)` around it, with a std::optional<Hold> declared before, or "
                "AROUND(...) { body }");
  static_assert(!Options::raises_loss,
                "latchkey: a Hold is released by its destructor, which cannot throw: a loss is "
                "told to the listener, so on_lost(raise) needs AROUND(...) { body }; or ask "
                "hold.release(), which is false after a loss");
  static_assert(
      !Options::raises_unconfirmed,
      "latchkey: a Hold is released by its destructor, which cannot throw: an unconfirmed "
      "release is told to the listener, so on_unconfirmed_release(raise) needs "
      "AROUND(...) { body }; or call hold.release(), which throws");
  return true;
}

/// The body of a HERE.
template <class Result>
struct TakeHold {
  Result operator()() const { return LockedCall::innermost()->take_hold(); }
};

/// The result of HERE: the Hold, or an optional of it.
template <class Decorator>
struct ScopeOf {
  static constexpr bool is_locked = false;
  using Result = Hold;
};
template <class Text, class Settings>
struct ScopeOf<Locked<Text, Settings>> {
  static constexpr bool is_locked = true;
  using Options = LockOptions<Settings>;
  static constexpr bool gives_optional =
      std::is_same_v<typename Options::Timeout, strategy::Skip> ||
      std::is_same_v<typename Options::Unavailable, strategy::Skip>;
  using Result = std::conditional_t<gives_optional, std::optional<Hold>, Hold>;
};

/// Whether the function at `place` gives a coroutine of Asio: its name begins with the result's
/// type. The name of a lambda does not show its result.
consteval bool gives_awaitable(
    const std::source_location& place = std::source_location::current()) {
  const std::string_view name = place.function_name();
  int depth = 0;
  bool awaitable = false;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '<') {
      if (depth == 0) awaitable = name.substr(0, at).ends_with("asio::awaitable");
      ++depth;
    }
    if (name[at] == '>' && --depth == 0 && awaitable) return name.substr(at + 1).starts_with(' ');
    if (name[at] == '(' && depth == 0) return false;
  }
  return false;
}

/// The function that a HERE is in.
template <bool GivesAwaitable>
struct ScopeFunction {
  static_assert(!GivesAwaitable,
                "latchkey: HERE in a coroutine: its lock belongs to the thread, so another "
                "coroutine of the thread would re-enter it: write co_await (LOCKED(...) "
                "AROUND(arguments) -> asio::awaitable<T> { ... }), or co_await "
                "latchkey::async_acquire(...)");
};

/// The expansion of HERE(arguments). `Where` as in Given.
template <class Where, class... Arguments>
struct GivenForScope {
  Addresses<Arguments...> addresses;
  [[no_unique_address]] Where where;
  [[no_unique_address]] ScopeFunction<false> function{};
};
template <class Where, class... Arguments>
GivenForScope(Addresses<Arguments...>, Where) -> GivenForScope<Where, Arguments...>;
template <class Where, class... Arguments, bool GivesAwaitable>
GivenForScope(Addresses<Arguments...>, Where, ScopeFunction<GivesAwaitable>)
    -> GivenForScope<Where, Arguments...>;

template <class Where>
consteval bool check_scope_names() {
  static_assert(are_names(text_of<Where>()),
                "latchkey: HERE takes the names of parameters or variables, separated by commas: a "
                "key walks into them itself, as in LOCKED(\"account:{account.id}\") "
                "HERE(account)");
  return true;
}

/// `LOCKED(...) && GivenForScope{...}`: acquires. Its instantiation registers the site.
template <class Decorator, class Where, class... Arguments>
[[nodiscard(
    "latchkey: HERE holds the lock for as long as its result lives: auto hold = LOCKED(...) "
    "HERE(...)")]] auto
operator&&(Decorator&& decorator, GivenForScope<Where, Arguments...>&& given) ->
    typename ScopeOf<std::remove_cvref_t<Decorator>>::Result {
  using Scope = ScopeOf<std::remove_cvref_t<Decorator>>;
  using Ready = ReadyFor<std::remove_reference_t<Decorator>, ForScope<Where>, Arguments...>;
  static_assert(check_scope_names<Where>());
  static_assert(Scope::is_locked,
                "latchkey: HERE gives the Hold of one LOCKED(...) or LOCKED_BY(...), and no other "
                "aspect has anything to do at a scope's end: compose aspects before AROUND(...) { "
                "body }");
  if constexpr (Scope::is_locked) static_assert(check_scope<typename Scope::Options>());
  static_assert(Ready::KeyChecks::run());
  return Ready{{decorator, given.addresses.all}} && TakeHold<typename Scope::Result>{};
}

}  // namespace detail

/// HERE(arguments) without the macro: the names of the arguments, a captureless callable that
/// returns the source location, and the arguments.
///
///     const auto hold = latchkey::locked<"account:{account.id}">(place) *
///                           latchkey::terms(LockType::READ) &&
///                       latchkey::for_scope<"account">(place, account);
///
/// The result is the Hold. With on_timeout(skip) or on_unavailable(skip) it is a
/// std::optional<Hold>, which is empty if the lock was not acquired. Throws what a call of LOCKED
/// throws before its body. ASSERT_HELD finds the lock in the thread that acquired it, for as long
/// as the Hold lives.
template <FixedString Names, class Where, class... Arguments>
auto for_scope(Where, Arguments&&... arguments) noexcept {
  using Named = detail::LiteralAt<Names, Where>;
  return detail::GivenForScope<Named, std::remove_reference_t<Arguments>...>{{arguments...},
                                                                             Named{}};
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
