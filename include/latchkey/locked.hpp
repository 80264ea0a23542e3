// LOCKED: the aspect that runs a body under a lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <type_traits>
#include <utility>

#include <latchkey/aspect.hpp>
#include <latchkey/decorated_callable.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/key_text.hpp>
#include <latchkey/detail/locked/ready.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/for_scope.hpp>
#include <latchkey/key.hpp>
#include <latchkey/lock_options.hpp>
#include <latchkey/site.hpp>
#include <latchkey/strategy.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {

/// Declared for a conversion that is never instantiated.
template <class T>
T nobodys();

}  // namespace detail

/// Runs a body under the lock that the key template names. If it has [*] or was made by KEYS, it
/// runs the body under several locks at once (Locks::all_of). `Text` is a captureless callable that
/// returns the key template as a PlacedText; each place has its own type of it. The macro form is
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
template <class Text, class Settings>
struct [[nodiscard("latchkey: LOCKED(...) alone locks nothing: write LOCKED(...) AROUND(arguments) "
                   "{ body }; or auto "
                   "hold = LOCKED(...) HERE(arguments);"),
         gnu::warn_unused]] Locked : detail::LockedAspect<Settings> {
  using Place = detail::PlaceOf<Text>;

  /// Called by an aspect around this one.
  template <class Where, class... Arguments, class Proceed>
  auto around(detail::PlacedCall<Where, Arguments...>& call, Proceed&& proceed) const
      -> decltype(proceed()) {
    return detail::Ready<Locked, detail::Inside<Where>, Arguments...>{
               {*this, call.addresses(), &call.own_site()}} &&
           proceed;
  }

  /// `(LOCKED(...))(function)`: makes a callable that locks at every call.
  template <class Function>
  auto operator()(Function&& function) const {
    return detail::decorate_at<Place>(Locked(*this), std::forward<Function>(function));
  }

  /// Never converts. It exists for the compile error about a LOCKED without a body.
  template <class T>
    requires(!detail::is_aspect<T>)
  operator T() const {  // NOLINT(google-explicit-constructor)
    static_assert(detail::never<T>,
                  "latchkey: LOCKED(...) alone locks nothing and has no result: write LOCKED(...) "
                  "AROUND(arguments) { body }; or auto hold = LOCKED(...) HERE(arguments);");
    return detail::nobodys<T>();
  }

  template <class Call, class Result, const SiteNote* Inner>
  static constexpr const SiteNote* site_notes() noexcept {
    using Inside = detail::InsideOf<Locked, Call>;
    if constexpr (detail::is_no_note<Inner>) {
      return &Inside::type::template site<Result>.note;
    } else {
      return &detail::outer_note<Inside, Result, Inner>;
    }
  }
};

namespace detail {

/// Whether the argument of LOCKED is right; the error has appeared otherwise.
template <bool Right>
struct Checked {};

/// The compile error for `co_await LOCKED(...) AROUND(...)`: static_assert takes a literal.
#define LATCHKEY_DETAIL_PARENTHESES                                                        \
  "latchkey: co_await binds to LOCKED(...) alone: put the whole in parentheses: co_await " \
  "(LOCKED(...) AROUND(arguments) -> asio::awaitable<T> { ... })"

/// Whether another check has refused that `Awaiting` awaits a KeyAt, nearer to the user's line.
template <class Awaiting>
inline constexpr bool is_refused_before = false;

/// A key template, before `*` adds its terms. An aggregate, so that no place has a function that
/// makes it. `*` binds weaker than the member calls on the terms, and stronger than `|`.
template <class Text>
struct KeyAt {
  /// The compile error for a key template with a wrong syntax.
  using Right = typename SyntaxOfKeys<Text>::type::is_a_key;

  [[no_unique_address]] Checked<true> checked;
  [[no_unique_address]] Text text;

  template <class Settings>
  [[gnu::always_inline]] friend auto operator*(KeyAt, LockOptions<Settings>&& options) {
    return Locked<Text, Settings>{{{}, static_cast<LockOptions<Settings>&&>(options)}};
  }
  template <class Options, class Function>
  friend auto operator*(KeyAt key, Applied<Options, Function>&& applied) {
    auto locked = key * std::move(applied.options);
    return decorate_at<PlaceOf<Text>>(std::move(locked), std::move(applied.function));
  }

  /// Never called, never awaited: the promise of a coroutine tries one of the two, and deduces its
  /// result.
  template <class Awaiting>
    requires(!is_refused_before<Awaiting>)
  auto operator()(Awaiting&&) const {
    static_assert(never<Awaiting>, LATCHKEY_DETAIL_PARENTHESES);
  }
  template <class T = Text>
  void operator co_await() const {
    static_assert(never<T>, LATCHKEY_DETAIL_PARENTHESES);
  }
};
template <class Text>
KeyAt(Checked<true>, Text) -> KeyAt<Text>;

/// The name of a policy, before `*` adds its terms.
template <class Text>
struct PolicyAt {
  [[no_unique_address]] Checked<true> checked;
  [[no_unique_address]] Text text;

  template <class Options>
  friend auto operator*(PolicyAt, Options&& options) {
    return KeyAt<ByPolicy<Text>>{} * std::move(options);
  }

  /// As in KeyAt.
  template <class Awaiting>
    requires(!is_refused_before<Awaiting>)
  auto operator()(Awaiting&&) const {
    static_assert(never<Awaiting>, LATCHKEY_DETAIL_PARENTHESES);
  }
  template <class T = Text>
  void operator co_await() const {
    static_assert(never<T>, LATCHKEY_DETAIL_PARENTHESES);
  }
};
template <class Text>
PolicyAt(Checked<true>, Text) -> PolicyAt<Text>;

}  // namespace detail

/// LOCKED without the macro: `latchkey::locked<"key">(place) * latchkey::terms(type, wait, lease)`.
/// `place` is a captureless callable of a unique type. It returns the source location of a
/// decorated callable: `[] { return std::source_location::current(); }`.
template <FixedString KeyTemplate, class Where = detail::NoPlace>
detail::KeyAt<detail::LiteralAt<KeyTemplate, Where>> locked(Where = {}) noexcept {
  return {};
}

/// LOCKED_BY without the macro: `latchkey::locked_by<"money">(place) * latchkey::terms()`. The
/// policy of that name, which `install_from` loads, supplies key, type, wait, lease and strategies.
/// A call before `install_from` throws NotConfigured. Options written after it apply to everything
/// that the policy does not set.
template <FixedString PolicyName, class Where = detail::NoPlace>
detail::PolicyAt<detail::LiteralAt<PolicyName, Where>> locked_by(Where = {}) noexcept {
  return {};
}

/// The terms that follow the key in LOCKED, in this order: a LockType (default REENTRANT), a wait
/// (3 s), a lease (30 s). A term can be given only if all before it are given.
/// `named`: the type, if it is known to be that of a lock: `.permits` does not compile then, and
/// READ has no `.fenced`. PERMIT: it is not known.
template <LockType named = LockType::PERMIT, class... Terms>
constexpr LockOptions<detail::PlainOf<named>> terms(const Terms&... said) {
  if constexpr (detail::check_terms<Terms...>()) {
    return {.terms = detail::make_terms(said...)};
  } else {
    return {};
  }
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
