// The word of a function with one lock that has no options, as most functions have it: one class
// instead of those of a LOCKED, which take the compiler longer.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <meta>
#include <type_traits>
#include <vector>

#include <latchkey/annotations/values.hpp>
#include <latchkey/detail/annotations/binding.hpp>
#include <latchkey/detail/annotations/call.hpp>
#include <latchkey/detail/annotations/constants.hpp>
#include <latchkey/detail/annotations/function.hpp>
#include <latchkey/detail/annotations/key_shape.hpp>
#include <latchkey/detail/annotations/mistakes.hpp>
#include <latchkey/detail/annotations/scope.hpp>
#include <latchkey/detail/aspect/call.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/detail/locked/ready.hpp>
#include <latchkey/key_schema.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

template <std::meta::info Function, class Shape, bool no_throw, class Result, class... Arguments>
struct PlainWord;

/// The PlainWord of a function; a null reflection: it has a mistake, or needs more.
consteval std::meta::info plain_word_of(std::meta::info function) {
  using std::meta::reflect_constant;
  constexpr std::meta::info none{};
  if (is_constructor(function) || is_destructor(function) || is_virtual(function)) return none;
  std::meta::info lock;
  for (const std::meta::info annotation : annotations_of(function)) {
    if (!is_call_annotation(annotation)) continue;
    if (lock != none || annotation_type(annotation) != ^^LockAnnotation<>) return none;
    lock = annotation;
  }
  if (lock == none || !knows_result(function)) return none;
  const auto value = extract<LockAnnotation<>>(lock);
  const std::meta::info result = return_type_of(function);
  const auto parameters = parameters_of(function);
  if (!is_plain_lock(value) || is_coroutine(result) || parameters.size() > most_parameters) {
    return none;
  }
  std::vector<std::meta::info> types;
  for (const std::meta::info parameter : parameters) {
    types.push_back(remove_cvref(type_of(parameter)));
  }
  const std::meta::info shape = find_key_shape(value.said, function, types);
  if (shape == ^^void) return none;
  std::vector<std::meta::info> arguments{reflect_constant(function), shape,
                                         reflect_constant(is_noexcept(function)), result};
  for (const std::meta::info parameter : parameters) {
    arguments.push_back(remove_reference(type_of(parameter)));
  }
  return substitute(^^PlainWord, arguments);
}

template <std::meta::info Function>
inline constexpr std::meta::info plain_word = plain_word_of(Function);

// clang-format off
/// Like the next variable no member of PlainWord, with whose name its symbol would be long.
template <std::meta::info Function>
inline constinit SiteOfAnnotation<annotation_value<Function, 0>.said> plain_site{
    text_of_function(Function, parameters_of(Function).size(), site_texts<Function>.data),
    LockOptions<Plain>::fixed_name().data(),
    [:plain_word<Function>:]::types,
    [:plain_word<Function>:]::infos,
    [:plain_word<Function>:]::Key::key(),
    [:plain_word<Function>:]::traits,
    terms_text(annotation_value<Function, 0>.said)};
// clang-format on
template <std::meta::info Function>
inline const bool plain_word_registered =
    (WordIn<Function>::facts.link(plain_site<Function>), WordIn<Function>::facts.has_word.state());

/// The types that LOCK_ANNOTATED needs, the aspect and the site. `Shape` renders the key.
template <std::meta::info Function, class Shape, bool no_throw, class Result, class... Arguments>
struct PlainWord {
  using Key = AnnotatedKey<Function, 0, Shape>;
  using Scope = PlainScope<LockedAspect<Plain>, Result, false>;
  using OptionChecks = OptionsCheck<BodyResult<Result>, LockOptions<Plain>, no_throw,
                                    std::remove_cv_t<Arguments>...>;

  static constexpr const SiteTypes& types = site_types<Result, Arguments...>;
  static constexpr const auto& infos = type_infos<std::remove_cv_t<Arguments>...>;
  static constexpr const LockTraits& traits = lock_traits<LockOptions<Plain>, Result, void, void>;
  static constexpr const LockedAspect<Plain>& aspect =
      plain_aspect<only_terms(annotation_value<Function, 0>.said)>;
  static constexpr LockedSite& site = plain_site<Function>;
  static constexpr const bool& registered = plain_word_registered<Function>;
};

/// The first mistake of a function with LOCK_ANNOTATED.
consteval MistakeText check_scope(std::meta::info function, std::meta::info plain) {
  return plain != std::meta::info() ? MistakeText{} : check_word(function, true);
}

/// The key of a function with a PlainWord. Its site is that of the word: a proxy refers to it.
template <std::meta::info Function, class Shape>
struct KeyOfPlainWord : AnnotatedKey<Function, 0, Shape> {
  struct Site {
    template <class... Parts>
    constexpr explicit Site(const Parts&... /*as the word has them*/) noexcept {}

    // NOLINTNEXTLINE(google-explicit-constructor): stands for a LockedSite
    operator LockedSite&() const noexcept { return plain_site<Function>; }
  };
};

/// The key that LOCKED would have found, without instances of its own if the key fits.
consteval std::meta::info find_annotated_key(std::meta::info function, std::size_t index,
                                             const LockConstants& said,
                                             const std::vector<std::meta::info>& types) {
  const std::meta::info shape = find_key_shape(said, function, types);
  const bool fits = shape != ^^void;
  const bool has_all = types.size() == parameters_of(function).size();
  std::vector<std::meta::info> arguments(1, std::meta::reflect_constant(function));
  if (fits && has_all && plain_word_of(function) != std::meta::info()) {
    arguments.push_back(shape);
    return substitute(^^KeyOfPlainWord, arguments);
  }
  arguments.push_back(std::meta::reflect_constant(index));
  if (fits) {
    arguments.push_back(shape);
    return substitute(^^AnnotatedKey, arguments);
  }
  std::vector<std::meta::info> of_key(1, substitute(^^AnnotationText, arguments));
  arguments.back() = std::meta::reflect_constant(types.size());
  of_key.push_back(substitute(^^ParametersOf, arguments));
  for (const std::meta::info type : types) of_key.push_back(type);
  return substitute(^^OneKey, of_key);
}
// clang-format off
template <std::meta::info Function, std::size_t Index, std::size_t Count, class... Arguments>
struct LockedKeyFor<AnnotationText<Function, Index>, PlacedText, ParametersOf<Function, Count>,
                    Arguments...>
    : [:find_annotated_key(Function, Index, annotation_value<Function, Index>.said,
                           {^^Arguments...}):] {};
// clang-format on

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
