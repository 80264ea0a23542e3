// Aspects: code that runs around a body, and its composition.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/detail/aspect/call.hpp>
#include <latchkey/detail/name_list.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/join_point.hpp>
#include <latchkey/site.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The empty base of every aspect. An aspect is any type that derives from it and has
///
///     template <class Proceed>
///     decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) {
///       note(point.name());  // before
///       return proceed();    // the body's result, exactly: a reference stays one
///     }
///
/// `around` may call `proceed` once, not at all, or several times; exceptions of `around` reach the
/// caller. In `a | b` a is the outer one. `aspect AROUND(arguments) { body }` runs the body inside
/// the aspect, and `latchkey::decorate(aspect, callable)` makes a callable that does so at every
/// call. An lvalue aspect is used by reference, a temporary is moved.
struct Aspect {
  /// Whether the aspect is wrong around a lock. An aspect that publishes its work after the body,
  /// such as a transaction that commits, declares it true: around a lock it would publish after the
  /// lock is released. `aspect | LOCKED(...)` does not compile then, and `LOCKED(...) | aspect`
  /// does. A lock that the body itself takes is not seen.
  static constexpr bool belongs_inside_lock = false;
  /// Whether the aspect holds a lock around its body, as LOCKED does. An aspect that takes a lock
  /// by other means declares it true, and is checked as LOCKED is.
  static constexpr bool takes_lock = false;

  /// For aspects with a macro that knows its location: returns the place of a decorated callable.
  using Place = detail::NoPlace;
  /// For aspects that name their site at compile time: a literal. Empty: none.
  static constexpr std::string_view fixed_site_name() noexcept { return {}; }
  /// For aspects that describe the site; `Inner` are the notes of the inner aspects.
  template <class Call, class Result, const SiteNote* Inner>
  static constexpr const SiteNote* site_notes() noexcept {
    return Inner;
  }
};

namespace detail {

template <class T>
inline constexpr bool is_aspect = std::is_base_of_v<Aspect, std::remove_reference_t<T>>;

/// The compile error for a transaction around its lock: static_assert takes a literal.
#define LATCHKEY_DETAIL_INSIDE_LOCK                                                     \
  "latchkey: this aspect belongs inside the lock (belongs_inside_lock): a transaction " \
  "around its lock commits after the release, so the next holder reads what was there " \
  "before; put the lock first: LOCKED(...) | in_transaction(db) AROUND(arguments) { body }"

/// Two aspects, one around the other. An lvalue aspect is kept by reference.
template <class Outer, class Inner>
class Both : public Aspect {
  using OuterType = std::remove_cvref_t<Outer>;
  using InnerType = std::remove_cvref_t<Inner>;

 public:
  constexpr Both(Outer&& outer, Inner&& inner)
      : outer_(std::forward<Outer>(outer)), inner_(std::forward<Inner>(inner)) {}

  static constexpr bool belongs_inside_lock =
      OuterType::belongs_inside_lock || InnerType::belongs_inside_lock;
  static constexpr bool takes_lock = OuterType::takes_lock || InnerType::takes_lock;

  template <class Point, class Proceed>
  decltype(auto) around(Point& point, Proceed&& proceed) {
    return outer_.around(point, [&]() noexcept(noexcept(proceed())) -> decltype(proceed()) {
      return inner_.around(point, proceed);
    });
  }
  template <class Point, class Proceed>
  decltype(auto) around(Point& point, Proceed&& proceed) const {
    return outer_.around(point, [&]() noexcept(noexcept(proceed())) -> decltype(proceed()) {
      return inner_.around(point, proceed);
    });
  }

  using Place = std::conditional_t<std::is_same_v<typename OuterType::Place, NoPlace>,
                                   typename InnerType::Place, typename OuterType::Place>;
  static constexpr std::string_view fixed_site_name() noexcept {
    const std::string_view outer = OuterType::fixed_site_name();
    return !outer.empty() ? outer : InnerType::fixed_site_name();
  }
  template <class Call, class Result, const SiteNote* Further>
  static constexpr const SiteNote* site_notes() noexcept {
    return OuterType::template site_notes<
        Call, Result, InnerType::template site_notes<Call, Result, Further>()>();
  }

  /// The composition applied to a callable: see `decorate`.
  template <class Function>
  auto operator()(Function&& function) &&;

 private:
  Outer outer_;
  Inner inner_;
};

/// Checks that the compiler makes at a site before it instantiates anything else for it, so that
/// few lines stand between the user's line and the error. Each check has a function `run` that does
/// not compile, or returns true.
template <class... Checks>
struct SiteChecks {
  static consteval bool run() { return (true && ... && Checks::run()); }

  template <class... More>
  static SiteChecks<Checks..., More...> join(SiteChecks<More...>);
};

/// The checks of a decorator that do not depend on the body. A decorator may specialise it.
template <class Decorator, class Call>
struct KeyChecksOf : SiteChecks<> {};
template <class Outer, class Inner, class Call>
struct KeyChecksOf<Both<Outer, Inner>, Call>
    : decltype(KeyChecksOf<std::remove_cvref_t<Outer>, Call>::join(
          std::declval<KeyChecksOf<std::remove_cvref_t<Inner>, Call>>())){};

/// The other checks of a decorator. A decorator may specialise it.
template <class Decorator, class Result, bool NoThrowBody, class... Arguments>
struct BodyChecksOf : SiteChecks<> {};
template <class Outer, class Inner, class Result, bool NoThrowBody, class... Arguments>
struct BodyChecksOf<Both<Outer, Inner>, Result, NoThrowBody, Arguments...>
    : decltype(BodyChecksOf<std::remove_cvref_t<Outer>, Result, NoThrowBody, Arguments...>::join(
          std::declval<
              BodyChecksOf<std::remove_cvref_t<Inner>, Result, NoThrowBody, Arguments...>>())){};

/// The part of Ready that does not depend on the place.
template <class Decorator>
struct ReadyCall {
  Decorator& decorator;
  const void* const* addresses;
};

/// A decorator and the addresses of its arguments, before the body. A decorator may specialise it.
template <class Decorator, class Where, class... Arguments>
struct Ready : ReadyCall<Decorator> {
  template <class Result>
  using Here = SiteOf<std::remove_const_t<Decorator>, Result, Where, Arguments...>;
  using KeyChecks = KeyChecksOf<std::remove_const_t<Decorator>, PlacedCall<Where, Arguments...>>;

  /// Registers the site of calls with this result, even if none is made.
  template <class Result>
  static void enroll() noexcept {
    static_cast<void>(&Here<Result>::registered);
  }

  /// Runs the body. Its instantiation registers the site.
  template <class Body>
  [[nodiscard(
      "latchkey: the result of this body is thrown away: write return LOCKED(...) AROUND(...) { "
      "... }; or return nothing in the body")]] auto
  operator&&(Body&& body) && -> decltype(body()) {
    using BodyChecks = BodyChecksOf<std::remove_const_t<Decorator>, decltype(body()),
                                    noexcept(body()), std::remove_cv_t<Arguments>...>;
    static_assert(BodyChecks::run());
    static_assert(KeyChecks::run());
    static_cast<void>(&Here<decltype(body())>::registered);
    PlacedCall<Where, Arguments...> call{{Here<decltype(body())>::site, this->addresses}};
    static_assert(std::is_same_v<decltype(this->decorator.around(call, body)), decltype(body())>,
                  "latchkey: an aspect's `around` returns what `proceed()` returns, exactly: "
                  "declare it decltype(auto) and write `return proceed();`");
    return this->decorator.around(call, body);
  }
};

/// The decorator of the Ready for a `Decorator`, which may be const.
template <class Decorator>
struct ReadyDecorator : std::type_identity<Decorator> {};

template <class Decorator, class Where, class... Arguments>
using ReadyFor = Ready<typename ReadyDecorator<Decorator>::type, Where, Arguments...>;

template <class Where>
consteval bool check_names() {
  static_assert(are_names(text_of<Where>()),
                "latchkey: AROUND takes the names of parameters or variables, separated by commas: "
                "a key walks into them itself, as in LOCKED(\"account:{account.id}\") "
                "AROUND(account)");
  return true;
}

/// The expansion of AROUND(arguments). `Where` is a captureless callable that returns the names of
/// the arguments, separated by commas, as a PlacedText; each place has its own type of it. The text
/// is empty if the arguments are known by position only. An aggregate, so that no place has a
/// function that makes it.
template <class Where, class... Arguments>
struct Given {
  Addresses<Arguments...> addresses;
  [[no_unique_address]] Where where;

  /// `decorator && Given{...} && body`: binds weaker than `|`, so that a composition needs no
  /// parentheses.
  template <class Decorator>
  [[gnu::always_inline]] friend auto operator&&(Decorator&& decorator, Given&& given) noexcept {
    static_assert(check_names<Where>());
    static_assert(is_aspect<Decorator>,
                  "latchkey: expected LOCKED(...) before AROUND, or another type that derives from "
                  "latchkey::Aspect, or several of them joined by |");
    return ReadyFor<std::remove_reference_t<Decorator>, Where, Arguments...>{
        {decorator, given.addresses.all}};
  }
};
template <class Where, class... Arguments>
Given(Addresses<Arguments...>, Where) -> Given<Where, Arguments...>;

}  // namespace detail

/// `outer | inner`: the left aspect is the outer one.
template <class Outer, class Inner>
  requires(detail::is_aspect<Outer> && detail::is_aspect<Inner>)
constexpr detail::Both<Outer, Inner> operator|(Outer&& outer, Inner&& inner) {
  static_assert(
      !std::remove_cvref_t<Outer>::belongs_inside_lock || !std::remove_cvref_t<Inner>::takes_lock,
      LATCHKEY_DETAIL_INSIDE_LOCK);
  return {std::forward<Outer>(outer), std::forward<Inner>(inner)};
}

/// AROUND(arguments) without the macro: the names of the arguments, a captureless callable that
/// returns the source location, and the arguments.
template <FixedString Names, class Where, class... Arguments>
auto with_arguments(Where, Arguments&&... arguments) noexcept {
  using Named = detail::LiteralAt<Names, Where>;
  return detail::Given<Named, std::remove_reference_t<Arguments>...>{{arguments...}, Named{}};
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
