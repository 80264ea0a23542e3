// LOCK_ANNOTATED and AROUND_ANNOTATED: one word in a body runs it under its function's annotations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <meta>
#include <vector>

#include <latchkey/detail/annotations/binding.hpp>
#include <latchkey/detail/annotations/call.hpp>
#include <latchkey/detail/annotations/function.hpp>
#include <latchkey/detail/annotations/mistakes.hpp>
#include <latchkey/detail/annotations/plain_word.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// Stands for a parameter that a function does not have.
inline constexpr char no_parameter = 0;

consteval std::size_t parameter_count(std::meta::info function) {
  return parameters_of(function).size();
}
consteval std::meta::info parameter_at(std::meta::info function, std::size_t index) {
  return variable_of(parameters_of(function)[index]);
}

/// The call of any function, and the checks of its options.
template <std::meta::info Function>
struct CheckedWord {
  using Call = AnnotatedCall<Function>;
  using OptionChecks = typename Call::OptionChecks;
};

/// The word of a function that has no PlainWord, with the members of one.
template <std::meta::info Function>
struct AnyWord : CheckedWord<Function> {
  using typename CheckedWord<Function>::Call;
  using Scope =
      typename WordScopeIf<Call::Ready::Options::always_runs>::template Of<Call,
                                                                           is_virtual(Function)>;

  static constexpr const auto& aspect = word_aspect<Call::annotated>;
  static constexpr LockedSite& site = Call::site;
  // A site that overriding functions may share is linked once.
  static inline const bool registered = [] {
    if constexpr (Call::annotated == Function) {
      WordIn<Function>::facts.link(site);
    } else {
      Call::Ready::template enroll<typename Call::Result>();
    }
    return WordIn<Function>::facts.has_word.state();
  }();
};

/// The PlainWord of a function, or its AnyWord.
consteval std::meta::info word_of(std::meta::info function, std::meta::info plain) {
  if (plain != std::meta::info()) return plain;
  const std::vector<std::meta::info> arguments(1, std::meta::reflect_constant(function));
  return substitute(^^AnyWord, arguments);
}

/// The checks of a word's options, which LOCKED has, too; none after another mistake.
template <bool fits>
struct OptionChecksIf {
  template <class Word>
  using Of = SiteChecks<>;
};
template <>
struct OptionChecksIf<true> {
  template <class Word>
  using Of = typename Word::OptionChecks;
};

/// `annotated_body<function>(addresses) && body`.
template <std::meta::info Function>
[[gnu::always_inline]] inline auto annotated_body(const void* const* addresses) noexcept {
  WordIn<Function>::enroll();
  return AnnotatedCall<Function>::ready(addresses);
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop

// clang-format off
#define LATCHKEY_DETAIL_THIS_FUNCTION ::std::meta::current_function()

/// The address of one of the most_parameters parameters; a function with fewer of them has no code
/// for the others.
#define LATCHKEY_DETAIL_WORD_PARAMETER(index)                                                    \
  if constexpr (index < latchkey_count) {                                                        \
    latchkey_parameters[index] = __builtin_addressof(                                            \
        [: index < latchkey_count                                                                \
               ? ::latchkey::detail::parameter_at(LATCHKEY_DETAIL_THIS_FUNCTION, index)          \
               : ^^::latchkey::detail::no_parameter :]);                                         \
  }
#define LATCHKEY_DETAIL_FOUR_WORD_PARAMETERS(first)                                              \
  LATCHKEY_DETAIL_WORD_PARAMETER(first) LATCHKEY_DETAIL_WORD_PARAMETER(first + 1)                \
  LATCHKEY_DETAIL_WORD_PARAMETER(first + 2) LATCHKEY_DETAIL_WORD_PARAMETER(first + 3)
#define LATCHKEY_DETAIL_WORD_PARAMETERS                                                          \
  constexpr ::std::size_t latchkey_count =                                                       \
      ::latchkey::detail::parameter_count(LATCHKEY_DETAIL_THIS_FUNCTION);                        \
  const void* latchkey_parameters[latchkey_count + 1] = {};                                      \
  LATCHKEY_DETAIL_FOUR_WORD_PARAMETERS(0)                                                        \
  LATCHKEY_DETAIL_FOUR_WORD_PARAMETERS(4)                                                        \
  LATCHKEY_DETAIL_FOUR_WORD_PARAMETERS(8)                                                        \
  LATCHKEY_DETAIL_FOUR_WORD_PARAMETERS(12)

// [[indeterminate]]: C++26 has other variables filled before their constructors run (P2795).
/// LOCK_ANNOTATED; takes the lock of this function's [[=latchkey::locked(...)]] from here to the
/// end of the scope. What a call of LOCKED throws or returns instead of its body, the function
/// throws or returns here.
#define LATCHKEY_LOCK_ANNOTATED                                                                  \
  constexpr ::std::meta::info latchkey_plain =                                                   \
      ::latchkey::detail::plain_word<LATCHKEY_DETAIL_THIS_FUNCTION>;                             \
  constexpr ::latchkey::detail::MistakeText latchkey_mistake =                                   \
      ::latchkey::detail::check_scope(LATCHKEY_DETAIL_THIS_FUNCTION, latchkey_plain);            \
  static_assert(latchkey_mistake.fits, latchkey_mistake);                                        \
  using LatchkeyWord = typename[:                                                                \
      ::latchkey::detail::word_of(LATCHKEY_DETAIL_THIS_FUNCTION, latchkey_plain) :];             \
  static_assert(::latchkey::detail::OptionChecksIf<latchkey_mistake.fits>::                      \
                    template Of<LatchkeyWord>::run());                                           \
  static_cast<void>(&LatchkeyWord::registered);                                                  \
  LATCHKEY_DETAIL_WORD_PARAMETERS                                                                \
  [[indeterminate]] typename LatchkeyWord::Scope latchkey_scope(                                 \
      LatchkeyWord::aspect, LatchkeyWord::site, latchkey_parameters);                            \
  if constexpr (!latchkey_scope.always_runs)                                                     \
    if (!latchkey_scope.runs()) [[unlikely]] return latchkey_scope.without_body()

/// AROUND_ANNOTATED { body }; runs the body under all annotations of this function, also
/// latchkey::once_per and aspects of one's own, as AROUND does.
#define LATCHKEY_AROUND_ANNOTATED                                                                \
  constexpr ::latchkey::detail::MistakeText latchkey_mistake =                                   \
      ::latchkey::detail::check_word(LATCHKEY_DETAIL_THIS_FUNCTION, false);                      \
  static_assert(latchkey_mistake.fits, latchkey_mistake);                                        \
  static_assert(::latchkey::detail::OptionChecksIf<latchkey_mistake.fits>::template Of<          \
                ::latchkey::detail::CheckedWord<LATCHKEY_DETAIL_THIS_FUNCTION>>::run());         \
  LATCHKEY_DETAIL_WORD_PARAMETERS                                                                \
  return ::latchkey::detail::annotated_body<LATCHKEY_DETAIL_THIS_FUNCTION>(                      \
             latchkey_parameters) &&                                                             \
         [&]() -> typename[:return_type_of(LATCHKEY_DETAIL_THIS_FUNCTION):]
// clang-format on

#ifndef LATCHKEY_NO_SHORT_MACROS
#define LOCK_ANNOTATED LATCHKEY_LOCK_ANNOTATED
#define AROUND_ANNOTATED LATCHKEY_AROUND_ANNOTATED
#endif
