// The call of an annotated function: what LOCKED's macros would have made of its annotations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <meta>
#include <type_traits>
#include <utility>
#include <vector>

#include <latchkey/annotations/values.hpp>
#include <latchkey/aspect.hpp>
#include <latchkey/detail/annotations/binding.hpp>
#include <latchkey/detail/annotations/constants.hpp>
#include <latchkey/detail/annotations/function.hpp>
#include <latchkey/detail/annotations/key_shape.hpp>
#include <latchkey/detail/annotations/scope.hpp>
#include <latchkey/detail/locked/body_kind.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/key_set.hpp>
#include <latchkey/detail/locked/ready.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/locked.hpp>
#include <latchkey/locked_once_per.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The terms that `latchkey::terms` would have made.
consteval LockTerms annotation_terms(const LockConstants& said) {
  const Wait wait =
      said.wait == no_limit ? Wait(forever) : Wait(std::chrono::milliseconds(said.wait));
  LockTerms terms =
      said.says_lease && said.lease == no_limit ? make_terms(said.type, wait, watchdog)
      : said.says_lease ? make_terms(said.type, wait, std::chrono::milliseconds(said.lease))
      : said.says_wait  ? make_terms(said.type, wait)
      : said.says_type  ? make_terms(said.type)
                        : make_terms();
  terms.reentry = said.reentry;
  terms.hold_for = std::chrono::milliseconds(said.hold_for);
  terms.says_hold_for = said.says_hold_for;
  terms.lease = limit_lease(terms.lease, std::chrono::milliseconds(said.held_at_most));
  terms.lease = delay_lease(terms.lease, std::chrono::milliseconds(said.lock_delay));
  if (said.cache != -1)
    terms.lease = cache_lease(terms.lease, std::chrono::milliseconds(said.cache));
  terms.fenced = said.fenced;
  if (said.permits != 0) {
    terms.permits = {static_cast<std::uint32_t>(said.permits_taken),
                     static_cast<std::uint32_t>(said.permits)};
    terms.type = LockType::PERMIT;
    terms.says_type = true;
  }
  return terms;
}

// Each calls one member of LockOptions, if the annotation has the option.
template <class Options>
consteval auto with_condition(Options options, const Always&) {
  return options;
}
template <class Options, class Predicate>
consteval auto with_condition(Options options, const WhenSaid<Predicate>& when) {
  return std::move(options).when(when.predicate);
}
template <class Options, FixedString Expression>
consteval auto with_condition(Options options, const WhenKey<Expression>&) {
  return std::move(options).template when<Expression>();
}
template <class Lost, class Options>
consteval auto with_lost(Options options) {
  if constexpr (std::is_same_v<Lost, RaiseByDefault>) {
    return options;
  } else {
    return std::move(options).on_lost(Lost{});
  }
}
template <const auto& annotation, class Options>
consteval auto with_unconfirmed(Options options) {
  if constexpr (!annotation.said.says_unconfirmed) {
    return options;
  } else if constexpr (annotation.said.raises_unconfirmed) {
    return std::move(options).on_unconfirmed_release(strategy::raise);
  } else {
    return std::move(options).on_unconfirmed_release(strategy::report);
  }
}
template <const auto& annotation, class Options>
consteval auto with_names(Options options) {
  constexpr ConstantText name = annotation.said.name;
  constexpr const Locks* locks = annotation.said.locks;
  if constexpr (name.size != 0 && locks != nullptr) {
    return std::move(options).template named<FixedString<name.size>(name.view())>().in(*locks);
  } else if constexpr (name.size != 0) {
    return std::move(options).template named<FixedString<name.size>(name.view())>();
  } else if constexpr (locks != nullptr) {
    return std::move(options).in(*locks);
  } else {
    return options;
  }
}
template <const auto& annotation, class Options>
consteval auto with_strategies(Options options) {
  constexpr LockConstants said = annotation.said;
  if constexpr (said.says_timeout && said.says_unavailable) {
    return std::move(options).on_timeout(annotation.timeout).on_unavailable(annotation.unavailable);
  } else if constexpr (said.says_timeout) {
    return std::move(options).on_timeout(annotation.timeout);
  } else if constexpr (said.says_unavailable) {
    return std::move(options).on_unavailable(annotation.unavailable);
  } else {
    return options;
  }
}

/// The options that the members of LOCKED would have made.
template <const auto& annotation, class Timeout, class Unavailable, class Lost, class When,
          bool never_throws>
consteval auto annotation_options(
    const LockAnnotation<Timeout, Unavailable, Lost, When, never_throws>& value) {
  auto options = with_unconfirmed<annotation>(
      with_lost<Lost>(with_strategies<annotation>(with_names<annotation>(
          with_condition(LockOptions<>{annotation_terms(value.said)}, value.condition)))));
  if constexpr (never_throws) {
    return std::move(options).no_throw();
  } else {
    return options;
  }
}

template <std::meta::info Function, std::size_t Index>
consteval auto lock_text() {
  using enum KeySource;
  constexpr KeySource source = annotation_value<Function, Index>.said.source;
  if constexpr (source == text) {
    return AnnotationText<Function, Index>{};
  } else if constexpr (source == list) {
    return AnnotationKeys<Function, Index>{};
  } else {
    return ByPolicy<AnnotationText<Function, Index>>{};
  }
}

template <class Text, class Settings>
consteval Locked<Text, Settings> locked_with(Text, LockOptions<Settings> options) {
  return {{{}, std::move(options)}};
}

consteval OnceTerms once_terms_of(const OnceAnnotation& once) {
  OnceTerms terms;
  terms.period = std::chrono::milliseconds(once.period);
  terms.options.offset = std::chrono::milliseconds(once.offset);
  terms.options.clock_error = std::chrono::milliseconds(once.clock_error);
  terms.options.on_failure = once.on_failure;
  if (once.start_within != no_limit) {
    terms.options.start_within = std::chrono::milliseconds(once.start_within);
  }
  terms.options.wait =
      once.wait == no_limit ? Wait(forever) : Wait(std::chrono::milliseconds(once.wait));
  terms.locks = once.locks;
  return terms;
}

/// Whether an annotation has the options of a LOCKED without members.
template <class Annotation>
consteval bool is_plain_lock(const Annotation&) {
  return false;
}
consteval bool is_plain_lock(const LockAnnotation<>& annotation) {
  const LockConstants& said = annotation.said;
  return said.source == KeySource::text && said.name.size == 0 && said.locks == nullptr &&
         !said.says_unconfirmed && !said.says_timeout && !said.says_unavailable;
}

/// The aspect of annotation `Index`.
template <std::meta::info Function, std::size_t Index>
consteval auto make_aspect() {
  using Kind = std::remove_const_t<decltype(annotation_value<Function, Index>)>;
  if constexpr (std::is_same_v<Kind, OnceAnnotation>) {
    return LockedOncePer<OnceText<Function, Index>>(
        once_terms_of(annotation_value<Function, Index>));
  } else if constexpr (is_plain_lock(annotation_value<Function, Index>)) {
    return Locked<AnnotationText<Function, Index>, Plain>{
        {{}, {annotation_terms(annotation_value<Function, Index>.said)}}};
  } else if constexpr (std::is_base_of_v<AnnotationValue, Kind>) {
    return locked_with(
        lock_text<Function, Index>(),
        annotation_options<annotation_value<Function, Index>>(annotation_value<Function, Index>));
  } else {
    return annotation_value<Function, Index>;
  }
}
template <std::meta::info Function, std::size_t Index>
inline constexpr auto annotation_aspect = make_aspect<Function, Index>();

/// All aspects of a function as one, the first annotation outermost.
template <std::meta::info Function, std::size_t... Index>
consteval auto compose_aspects(std::index_sequence<Index...>) {
  return (annotation_aspect<Function, Index> | ...);
}
template <std::meta::info Function, std::size_t Count = own_call_annotation_count(Function)>
inline constexpr auto aspect_of = compose_aspects<Function>(std::make_index_sequence<Count>());
template <std::meta::info Function>
inline constexpr auto& aspect_of<Function, 1> = annotation_aspect<Function, 0>;

/// OptionsCheck, and then the check of `.when`.
template <class When, class Options, class Where, class... Arguments>
struct ConditionCheck : Options {
  static consteval bool run() {
    return Options::run() && When::template check<Where, Arguments...>();
  }
};
template <class Options, class Where, class... Arguments>
struct ConditionCheck<Always, Options, Where, Arguments...> : Options {};

/// The checks of a LOCKED's options against the result, the parameters and noexcept of a function.
/// Functions with equal ones share them. Compositions are checked at their call.
template <bool is_composition>
struct OptionChecksFor {
  template <class Ready, class Result, bool no_throw, class Where, class... Arguments>
  using Type =
      ConditionCheck<typename Ready::Options::When,
                     OptionsCheck<BodyResult<Result>, typename Ready::Options,
                                  no_throw && !BodyKind<Result>::is_coroutine, Arguments...>,
                     std::conditional_t<Ready::Options::always_asked, void, Where>, Arguments...>;
};
template <>
struct OptionChecksFor<true> {
  template <class, class, bool, class, class...>
  using Type = SiteChecks<>;
};

/// The aspect of a lock with these terms and no other options, which has no key.
template <LockConstants said>
inline constexpr LockedAspect<Plain> plain_aspect{{}, {annotation_terms(said)}};

/// The terms alone, so that annotations with equal ones share an aspect.
consteval LockConstants only_terms(LockConstants said) {
  said.key = {};
  said.parsed = {};
  return said;
}

/// The aspect of a function's one lock, for LOCK_ANNOTATED.
template <std::meta::info Annotated, bool is_plain = is_plain_lock(annotation_value<Annotated, 0>)>
inline constexpr auto& word_aspect = aspect_of<Annotated>;
template <std::meta::info Annotated>
inline constexpr auto& word_aspect<Annotated, true> =
    plain_aspect<only_terms(annotation_value<Annotated, 0>.said)>;

/// The call of a function under its aspects. `Annotated` has the annotations.
template <std::meta::info Annotated, bool no_throw, class Returned, class... Parameters>
struct AnnotatedCallOf {
  static constexpr std::meta::info annotated = Annotated;
  using Result = Returned;
  using Decorator = std::remove_cvref_t<decltype(aspect_of<Annotated>)>;
  using Where = ParametersOf<Annotated, sizeof...(Parameters)>;
  using Ready = ReadyFor<const Decorator, Where, std::remove_reference_t<Parameters>...>;

  static constexpr const Decorator& aspect = aspect_of<Annotated>;
  static constexpr bool is_composition = !requires { typename Ready::Options; };

  using OptionChecks =
      typename OptionChecksFor<is_composition>::template Type<Ready, Result, no_throw, Where,
                                                              std::remove_cvref_t<Parameters>...>;

  static constexpr LockedSite& site = Ready::template site<Result>;

  [[gnu::always_inline]] static auto ready(const void* const* addresses) noexcept {
    return Ready{{aspect, addresses}};
  }
};

/// The lock of LOCK_ANNOTATED for a call whose options have this `always_runs`.
template <bool always_runs>
struct WordScopeIf {
  template <class Call, bool proxied>
  using Of = PlainScope<LockedAspectOf<typename Call::Ready>, typename Call::Result, proxied>;
};
template <>
struct WordScopeIf<false> {
  template <class Call, bool proxied>
  using Of = ChoosingScope<typename Call::Ready, typename Call::Result, proxied>;
};

consteval std::meta::info annotated_call_of(std::meta::info function) {
  const std::meta::info annotated = annotated_function(function);
  std::vector<std::meta::info> arguments{std::meta::reflect_constant(annotated),
                                         std::meta::reflect_constant(is_noexcept(function)),
                                         return_type_of(function)};
  for (const std::meta::info parameter : parameters_of(function)) {
    arguments.push_back(type_of(parameter));
  }
  return substitute(^^AnnotatedCallOf, arguments);
}

template <std::meta::info Function>
using AnnotatedCall = [:annotated_call_of(Function):];

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
