// Aspects: code that runs around a body, and its composition.
#pragma once

#include <latchkey/cxx20.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

#include <latchkey/aspect/call.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/join_point.hpp>
#include <latchkey/name_list.hpp>
#include <latchkey/site.hpp>

namespace latchkey {

/// The empty base of every aspect. An aspect is any type that derives from it and has
///
///     template <class Proceed>
///     decltype(auto) around(latchkey::JoinPoint& point, Proceed&& proceed) {
///       ...                  // before
///       return proceed();    // the body's result, exactly: a reference stays one
///     }
///
/// `around` may call `proceed` once, not at all, or several times; exceptions of `around` reach the
/// caller. In `a | b` a is the outer one. `aspect AROUND(arguments) { body }` runs the body inside
/// the aspect, and `latchkey::decorate(aspect, callable)` makes a callable that does so at every
/// call. An lvalue aspect is used by reference, a temporary is moved.
struct Aspect {
  /// For aspects with a macro that knows its location: returns the place of a decorated callable.
  using Place = detail::NoPlace;
  /// For aspects that name their site at compile time.
  static constexpr const char* fixed_site_name() noexcept { return nullptr; }
  /// For aspects that describe the site; `Inner` are the notes of the inner aspects.
  template <class Call, class Result, const SiteNote* Inner>
  static constexpr const SiteNote* site_notes() noexcept {
    return Inner;
  }
};

namespace detail {

template <class T>
inline constexpr bool is_aspect = std::is_base_of_v<Aspect, std::remove_reference_t<T>>;

/// Two aspects, one around the other. An lvalue aspect is kept by reference.
template <class Outer, class Inner>
class Both : public Aspect {
  using OuterType = std::remove_cvref_t<Outer>;
  using InnerType = std::remove_cvref_t<Inner>;

 public:
  Both(Outer&& outer, Inner&& inner)
      : outer_(std::forward<Outer>(outer)), inner_(std::forward<Inner>(inner)) {}

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
  static constexpr const char* fixed_site_name() noexcept {
    const char* const outer = OuterType::fixed_site_name();
    return outer != nullptr ? outer : InnerType::fixed_site_name();
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

/// A decorator and its arguments, before the body.
template <class Decorator, class Call>
struct Ready {
  Decorator& decorator;
  Call& call;
};

}  // namespace detail

/// `outer | inner`: the left aspect is the outer one.
template <class Outer, class Inner>
  requires(detail::is_aspect<Outer> && detail::is_aspect<Inner>)
constexpr detail::Both<Outer, Inner> operator|(Outer&& outer, Inner&& inner) {
  return {std::forward<Outer>(outer), std::forward<Inner>(inner)};
}

/// The expansion of AROUND(arguments): the arguments, their names, and the location.
template <FixedString Names, class Where, class... Arguments>
auto with_arguments(Where, Arguments&&... arguments) noexcept {
  static_assert(detail::are_names(Names.view()),
                "latchkey: AROUND takes the names of parameters or variables, separated by commas: "
                "a key walks into them itself, as in LOCKED(\"account:{account.id}\") "
                "AROUND(account)");
  return detail::CallOf<Names, Where, std::remove_reference_t<Arguments>...>{{arguments...}};
}

namespace detail {

/// `decorator && with_arguments<...>(...) && body`: binds weaker than `|`, so that a composition
/// needs no parentheses.
template <class Decorator, FixedString Names, class Where, class Index, class... Arguments>
auto operator&&(Decorator&& decorator, Call<Names, Where, Index, Arguments...>&& call) noexcept {
  static_assert(is_aspect<Decorator>,
                "latchkey: what stands before AROUND is LOCKED(...) or another type that derives "
                "from latchkey::Aspect, or several of them joined by |");
  return Ready<std::remove_reference_t<Decorator>, Call<Names, Where, Index, Arguments...>>{
      decorator, call};
}
/// Runs the body. Its instantiation registers the site.
template <class Decorator, class Call, class Body>
[[nodiscard(
    "latchkey: the result of this body is thrown away: write return LOCKED(...) AROUND(...) { ... "
    "}; "
    "or return nothing in the body")]] auto
operator&&(Ready<Decorator, Call>&& ready, Body&& body) -> decltype(body()) {
  using Here = SiteOf<Call, decltype(body()), std::remove_const_t<Decorator>>;
  static_cast<void>(&Here::registered);
  ready.call.at(Here::site);
  static_assert(
      std::is_same_v<decltype(ready.decorator.around(ready.call, body)), decltype(body())>,
      "latchkey: an aspect's `around` returns what `proceed()` returns, exactly: declare "
      "it decltype(auto) and write `return proceed();`");
  return ready.decorator.around(ready.call, body);
}

}  // namespace detail

}  // namespace latchkey
