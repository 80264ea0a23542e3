// LOCKED_ONCE_PER: the aspect that runs a body at most once for each scheduled instant.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>
#include <type_traits>
#include <utility>

#include <latchkey/aspect.hpp>
#include <latchkey/decorated_callable.hpp>
#include <latchkey/detail/locked/body_kind.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/key_set.hpp>
#include <latchkey/detail/locked/key_text.hpp>
#include <latchkey/detail/locked/outcomes.hpp>
#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/held.hpp>
#include <latchkey/key_buffer.hpp>
#include <latchkey/lock_options.hpp>
#include <latchkey/locked.hpp>
#include <latchkey/macros/locked.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/site.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The terms after the key in LOCKED_ONCE_PER: made by `latchkey::once_terms(period, options)`.
struct [[nodiscard]] OnceTerms {
  std::chrono::milliseconds period{};
  OncePerOptions options{};
  const Locks* locks = nullptr;  ///< null: the default Locks
  SiteName name{};

  /// Uses these Locks, which must outlive the call, instead of the default ones.
  OnceTerms&& in(const Locks& other) && {
    locks = &other;
    return std::move(*this);
  }
  /// The site's name, instead of the method's. Known from the first call on.
  OnceTerms&& named(SiteName site_name) && {
    name = site_name;
    return std::move(*this);
  }

  /// `LOCKED_ONCE_PER(...)(function)`: a callable with the same parameters and result.
  template <class Function>
  detail::Applied<OnceTerms, std::decay_t<Function>> operator()(Function&& function) && {
    return {std::move(*this), std::forward<Function>(function)};
  }
};

/// The terms that follow the key in LOCKED_ONCE_PER: a period, and perhaps options.
template <class Period>
OnceTerms once_terms(const Period& period, const OncePerOptions& options = {}) {
  static_assert(!std::is_arithmetic_v<Period>,
                "latchkey: a period has a unit: write 15min (using namespace "
                "std::chrono_literals) or std::chrono::hours(1), not a bare number");
  static_assert(std::is_arithmetic_v<Period> ||
                    std::is_convertible_v<const Period&, std::chrono::milliseconds>,
                "latchkey: what follows the key of LOCKED_ONCE_PER is its period: a std::chrono "
                "duration of whole milliseconds, as in LOCKED_ONCE_PER(\"report\", 15min)");
  if constexpr (std::is_convertible_v<const Period&, std::chrono::milliseconds>) {
    return {.period = period, .options = options};
  } else {
    return {};
  }
}
template <class Period, class Second, class... More>
  requires(sizeof...(More) != 0 || !std::is_convertible_v<const Second&, const OncePerOptions&>)
OnceTerms once_terms(const Period&, const Second&, const More&...) {
  static_assert(detail::never<Second>,
                "latchkey: LOCKED_ONCE_PER takes a key, a period and perhaps OncePerOptions, which "
                "name the offset, as in LOCKED_ONCE_PER(\"report\", 24h, {.offset = 3h}); Locks "
                "and a name are members: LOCKED_ONCE_PER(...).in(locks).named(\"report\")");
  return {};
}
template <class T = void>
OnceTerms once_terms() {
  static_assert(detail::never<T>,
                "latchkey: LOCKED_ONCE_PER needs a period after its key, as in "
                "LOCKED_ONCE_PER(\"report\", 15min)");
  return {};
}

namespace detail {

/// The compile errors for a wrong body of LOCKED_ONCE_PER.
template <class Result, bool NoThrowBody>
struct OnceCheck {
  static consteval bool run() {
    static_assert(!BodyKind<Result>::is_coroutine,
                  "latchkey: LOCKED_ONCE_PER runs no coroutine: its instant would be marked before "
                  "the coroutine has run");
    static_assert(BodyKind<Result>::is_coroutine || can_be_skipped<Result>(),
                  "latchkey: most calls of LOCKED_ONCE_PER do not run their body, and the Result "
                  "named here cannot tell: return void, a pointer, a std::optional or an expected; "
                  "where the body deduces less, say AROUND(...) -> std::optional<T>");
    static_assert(!NoThrowBody,
                  "latchkey: this body is noexcept, but LOCKED_ONCE_PER may throw (LockLost, "
                  "BackendUnavailable, KeyError)");
    return true;
  }
};

template <class Key>
struct OnceKeyCheck {
  static consteval bool run() {
    static_assert(!Key::Verdict::value || Key::key().is_one,
                  "latchkey: LOCKED_ONCE_PER has one key: KEYS and [*] are for LOCKED");
    return true;
  }
};

template <class Text, class Call>
struct OnceKeyOf;
template <class Text, class Where, class... Arguments>
struct OnceKeyOf<Text, PlacedCall<Where, Arguments...>>
    : LockedKeyOf<Text, Where, std::remove_cv_t<Arguments>...> {};

/// `Call` makes it one of the place.
template <class Text, class Call>
inline constinit OnceSite once_site{Text{}().terms};

template <class Text, class Call, const SiteNote* Inner>
inline constexpr SiteNote once_note{once_kind, OnceKeyOf<Text, Call>::key().key.text, Inner,
                                    &once_site<Text, Call>};

}  // namespace detail

/// Runs a body at most once for each instant of a OncePer whose key is rendered from the arguments.
/// The macro form is LOCKED_ONCE_PER(key, period, options). It stands before AROUND or in
/// DECORATED, or is applied to a callable.
///
/// If the body does not run (OnceOutcome::taken or late), the result shows it as with
/// on_timeout(skip). It throws what Locks::once_per and OncePer::run throw, and KeyError. A call is
/// thread-safe if its arguments are.
template <class Text>
struct [[nodiscard(
    "latchkey: LOCKED_ONCE_PER(...) alone runs nothing: write LOCKED_ONCE_PER(...) "
    "AROUND(arguments) { body };")]] LockedOncePer : Aspect {
  using Place = detail::PlaceOf<Text>;
  static constexpr bool takes_lock = true;
  OnceTerms terms;

  constexpr explicit LockedOncePer(OnceTerms&& said) : terms(std::move(said)) {}

  /// Called by AROUND, or by an aspect around this one.
  template <class Where, class... Arguments, class Proceed>
  auto around(detail::PlacedCall<Where, Arguments...>& call, Proceed&& proceed) const
      -> decltype(proceed()) {
    using Result = decltype(proceed());
    if constexpr (detail::can_be_skipped<Result>()) {
      call.own_site().give_name(terms.name);
      using CallOfPlace = detail::PlacedCall<Where, Arguments...>;
      const OncePer job =
          detail::locks_for(detail::once_site<Text, CallOfPlace>, terms.locks)
              .once_per(key<Where, Arguments...>(call), terms.period, terms.options);
      // The body of a DECORATED takes any parameters.
      const auto body = [&]() -> Result { return proceed(); };
      const Origin origin{&call.own_site(), detail::OnceKeyOf<Text, CallOfPlace>::key().key.text};
      auto result = job.run_for(origin, body);
      if constexpr (!std::is_void_v<Result>) {
        if (!result) return detail::skipped<Result>(detail::Entry::skipped_timeout);
        return *std::move(result.value);
      }
    } else {
      return proceed();  // after an error
    }
  }

  /// `(LOCKED_ONCE_PER(...))(function)`: a callable with the same parameters and result.
  template <class Function>
  auto operator()(Function&& function) const {
    return detail::decorate_at<Place>(LockedOncePer(*this), std::forward<Function>(function));
  }

  template <class Call, class, const SiteNote* Inner>
  static constexpr const SiteNote* site_notes() noexcept {
    return &detail::once_note<Text, Call, Inner>;
  }

 private:
  template <class Where, class... Arguments>
  static std::string key(const detail::PlacedCall<Where, Arguments...>& call) {
    static constexpr detail::LockedKey known =
        detail::OnceKeyOf<Text, detail::PlacedCall<Where, Arguments...>>::key();
    KeyBuffer rendered;
    known.render(rendered, known.key, call.addresses());
    return std::string(rendered.view());
  }
};

namespace detail {

template <class Text, class Call>
struct KeyChecksOf<LockedOncePer<Text>, Call>
    : SiteChecks<OnceKeyCheck<OnceKeyOf<Text, Call>>,
                 KeyCheck<typename OnceKeyOf<Text, Call>::Verdict>> {};

template <class Text, class Result, bool NoThrowBody, class... Arguments>
struct BodyChecksOf<LockedOncePer<Text>, Result, NoThrowBody, Arguments...>
    : SiteChecks<OnceCheck<Result, NoThrowBody>, OptionsCheck<Result, LockOptions<>, false>> {};

/// The key of a LOCKED_ONCE_PER, before `*` adds its terms.
template <class Text>
struct OnceKeyAt {
  /// As in KeyAt.
  using Right = typename SyntaxOfKeys<Text>::type::is_a_key;

  [[no_unique_address]] Checked<true> checked;
  [[no_unique_address]] Text text;

  friend LockedOncePer<Text> operator*(OnceKeyAt, OnceTerms&& terms) {
    return LockedOncePer<Text>(std::move(terms));
  }
  template <class Function>
  friend auto operator*(OnceKeyAt key, Applied<OnceTerms, Function>&& applied) {
    auto once = key * std::move(applied.options);
    return decorate_at<PlaceOf<Text>>(std::move(once), std::move(applied.function));
  }
};
template <class Text>
OnceKeyAt(Checked<true>, Text) -> OnceKeyAt<Text>;

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
