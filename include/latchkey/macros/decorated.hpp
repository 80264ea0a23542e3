// DECORATED: applies an aspect to a method at its declaration. The body follows the macro.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <latchkey/detail/decorate/preprocessor.hpp>
#include <latchkey/macros/locked.hpp>

// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses): only macros can do this
// clang-format off: continued lines are broken by meaning

/// DECORATED(decorators, result, name [, (specifiers)], (type) argument...) { body }
///
///     DECORATED(LOCKED("account:{account.id}", LockType::READ, 3s, 30s), Money, balance, (const),
///               (const Account&) account) {
///       return ledger_.sum(account.id);
///     }
///
/// Declares the method `name` of a class, which runs the following body under the decorators. A
/// result in parentheses may include what precedes it: `(static Money)`, `(template <class T> T)`,
/// `(std::map<K, V>)`, `([[nodiscard]] virtual Money)`. The first parenthesis without a name
/// contains the specifiers after the parameter list, separated by commas: const, volatile,
/// override, final, noexcept. Up to 16 arguments, each `(type) name`, without default values.
#define LATCHKEY_DECORATED(...)                                                       \
  LATCHKEY_DETAIL_CAT(LATCHKEY_DETAIL_DECORATED_, LATCHKEY_DETAIL_ARITY(__VA_ARGS__)) \
  (__VA_ARGS__)

// few: an argument is missing; plain: the name is the last argument; more: further arguments
// follow.
#define LATCHKEY_DETAIL_ARITY(...)                                                                \
  LATCHKEY_DETAIL_PICK(__VA_ARGS__ __VA_OPT__(, ) many, many, many, many, many, many, many, many, \
                       many, many, many, more, more, more, more, more, more, more, more, more,    \
                       more, more, more, more, more, more, more, more, plain, few, few, few, ~)

#define LATCHKEY_DETAIL_DECORATED_few(...)                                                         \
  static_assert(false,                                                                             \
                "latchkey: DECORATED takes decorators, a result and a name, then perhaps "         \
                "(specifiers) and arguments as (type) name: something is missing here. Given are " \
                LATCHKEY_DETAIL_TEXT(LATCHKEY_DETAIL_COUNT(__VA_ARGS__)) " of at least 3");        \
  void LATCHKEY_DETAIL_MISTAKEN()

#define LATCHKEY_DETAIL_DECORATED_many(...)                                                  \
  static_assert(false, "latchkey: DECORATED takes up to 16 arguments, and here are more: give " \
                       "them as one struct");                                                \
  void LATCHKEY_DETAIL_MISTAKEN()

// Declares a function that takes the body after an error.
#define LATCHKEY_DETAIL_MISTAKEN LATCHKEY_DETAIL_CAT(latchkey_mistaken_, __LINE__)

#define LATCHKEY_DETAIL_DECORATED_plain(decorators, result, name) \
  LATCHKEY_DETAIL_METHOD(decorators, result, name, ())

// A fourth argument without parentheses is an error of its own: in a result with a comma even the
// name is wrong.
#define LATCHKEY_DETAIL_DECORATED_more(decorators, result, name, first, ...)   \
  LATCHKEY_DETAIL_IF(LATCHKEY_DETAIL_HAS_PARENS(first))                        \
  (LATCHKEY_DETAIL_DECORATED_good, LATCHKEY_DETAIL_DECORATED_bad)              \
  (decorators, result, name, first __VA_OPT__(, ) __VA_ARGS__)
#define LATCHKEY_DETAIL_DECORATED_bad(decorators, result, name, first, ...) \
  LATCHKEY_DETAIL_CHECK_ARGUMENT(first)                                     \
  void LATCHKEY_DETAIL_MISTAKEN()
#define LATCHKEY_DETAIL_DECORATED_good(decorators, result, name, first, ...)   \
  LATCHKEY_DETAIL_IF(LATCHKEY_DETAIL_IS_NAMELESS(first))                       \
  (LATCHKEY_DETAIL_METHOD, LATCHKEY_DETAIL_METHOD_UNSPECIFIED)                 \
  (decorators, result, name, first __VA_OPT__(, ) __VA_ARGS__)
#define LATCHKEY_DETAIL_METHOD_UNSPECIFIED(decorators, result, name, ...) \
  LATCHKEY_DETAIL_METHOD(decorators, result, name, (), __VA_ARGS__)

// 1 for `(const)`: parentheses without a name after them.
#define LATCHKEY_DETAIL_IS_NAMELESS(item)                                             \
  LATCHKEY_DETAIL_IF(LATCHKEY_DETAIL_HAS_PARENS(item))                                \
  (LATCHKEY_DETAIL_HAS_NO_NAME, LATCHKEY_DETAIL_ZERO)(item)
#define LATCHKEY_DETAIL_HAS_NO_NAME(item) LATCHKEY_DETAIL_IS_EMPTY(LATCHKEY_DETAIL_EAT item)
#define LATCHKEY_DETAIL_ZERO(...) 0

// The wrapper, and the beginning of the body. The body is a method of its own. Its first parameter
// has a unique type, so that nobody calls it by accident and a virtual body is not overridden.
#define LATCHKEY_DETAIL_METHOD(decorators, result, name, specifiers, ...)                         \
  LATCHKEY_DETAIL_MAP(LATCHKEY_DETAIL_CHECK_SPECIFIER, LATCHKEY_DETAIL_NOTHING,                   \
                      LATCHKEY_DETAIL_KEEP specifiers)                                            \
  LATCHKEY_DETAIL_MAP(LATCHKEY_DETAIL_CHECK_ARGUMENT, LATCHKEY_DETAIL_NOTHING                     \
                      __VA_OPT__(, ) __VA_ARGS__)                                                 \
  static_assert(!::latchkey::detail::has_word("auto", #result),                                   \
                "latchkey: DECORATED: the result `" #result "` is deduced: say the type, since "  \
                "the body is called before the compiler has seen it");                            \
  LATCHKEY_DETAIL_RESULT(result) name(LATCHKEY_DETAIL_PARAMETERS(__VA_ARGS__))                    \
      LATCHKEY_DETAIL_SAID(LATCHKEY_DETAIL_SAY, LATCHKEY_DETAIL_KEEP specifiers) {                \
    static_cast<void>(static_cast<LATCHKEY_DETAIL_SCOPE(name)*>(nullptr));                        \
    return decorators && LATCHKEY_DETAIL_WITH(LATCHKEY_DETAIL_NAMES(__VA_ARGS__)) &&              \
           [&](auto... latchkey_frame)                                                            \
               LATCHKEY_DETAIL_SAID(LATCHKEY_DETAIL_SAY_OF_LAMBDA,                                \
                                    LATCHKEY_DETAIL_KEEP specifiers) -> decltype(auto) {          \
      if constexpr (sizeof...(latchkey_frame) != 0) {                                             \
        return (latchkey_frame->template call<LATCHKEY_DETAIL_TYPES(__VA_ARGS__)>(                \
                    [&](auto&&... latchkey_moved) -> decltype(auto) {                             \
                      return LATCHKEY_DETAIL_BODY(name)(                                          \
                          LATCHKEY_DETAIL_TAG(name)(),                                            \
                          static_cast<decltype(latchkey_moved)>(latchkey_moved)...);              \
                    }),                                                                           \
                ...);                                                                             \
      } else {                                                                                    \
        return LATCHKEY_DETAIL_BODY(name)(LATCHKEY_DETAIL_TAG(name)() __VA_OPT__(, )              \
                                              LATCHKEY_DETAIL_FORWARDS(__VA_ARGS__));             \
      }                                                                                           \
    };                                                                                            \
  }                                                                                               \
  struct LATCHKEY_DETAIL_SCOPE(name);                                                             \
  struct LATCHKEY_DETAIL_TAG(name) {};                                                            \
  LATCHKEY_DETAIL_RESULT(result)                                                                  \
  LATCHKEY_DETAIL_BODY(name)(LATCHKEY_DETAIL_TAG(name) __VA_OPT__(, )                             \
                                 LATCHKEY_DETAIL_BODY_PARAMETERS(__VA_ARGS__))                    \
      LATCHKEY_DETAIL_SAID(LATCHKEY_DETAIL_SAY_OF_BODY, LATCHKEY_DETAIL_KEEP specifiers)

#define LATCHKEY_DETAIL_RESULT(result)                      \
  LATCHKEY_DETAIL_IF(LATCHKEY_DETAIL_HAS_PARENS(result))    \
  (LATCHKEY_DETAIL_BARE, LATCHKEY_DETAIL_KEEP)(result)
#define LATCHKEY_DETAIL_BARE(result) LATCHKEY_DETAIL_KEEP result
#define LATCHKEY_DETAIL_BODY(name) \
  LATCHKEY_DETAIL_CAT(LATCHKEY_DETAIL_CAT(latchkey_body_of_##name, _), __LINE__)
// A class finds it although it is declared after its use; no other scope does.
#define LATCHKEY_DETAIL_SCOPE(name)                                                    \
  LATCHKEY_DETAIL_CAT(                                                                 \
      LATCHKEY_DETAIL_CAT(                                                             \
          DECORATED_stands_in_a_class_and_a_free_function_takes_LOCKED_AROUND_##name,  \
          _), __LINE__)
#define LATCHKEY_DETAIL_TAG(name) \
  LATCHKEY_DETAIL_CAT(LATCHKEY_DETAIL_CAT(latchkey_tag_of_##name, _), __LINE__)

// The parts of `(const Account&) account`.
#define LATCHKEY_DETAIL_PARAMETER(item) LATCHKEY_DETAIL_KEEP item
#define LATCHKEY_DETAIL_NAME(item) LATCHKEY_DETAIL_EAT item
#define LATCHKEY_DETAIL_TYPE(item) decltype(LATCHKEY_DETAIL_EAT item)
#define LATCHKEY_DETAIL_FORWARD(item) LATCHKEY_DETAIL_FORWARD_NOW(LATCHKEY_DETAIL_EAT item)
#define LATCHKEY_DETAIL_FORWARD_NOW(name) ::std::forward<decltype(name)>(name)
#define LATCHKEY_DETAIL_PARAMETERS(...)                                   \
  LATCHKEY_DETAIL_MAP(LATCHKEY_DETAIL_PARAMETER, LATCHKEY_DETAIL_COMMA    \
                      __VA_OPT__(, ) __VA_ARGS__)
// The body need not use arguments that only the key uses.
#define LATCHKEY_DETAIL_BODY_PARAMETER(item) [[maybe_unused]] LATCHKEY_DETAIL_KEEP item
#define LATCHKEY_DETAIL_BODY_PARAMETERS(...)                                \
  LATCHKEY_DETAIL_MAP(LATCHKEY_DETAIL_BODY_PARAMETER, LATCHKEY_DETAIL_COMMA \
                      __VA_OPT__(, ) __VA_ARGS__)
#define LATCHKEY_DETAIL_NAMES(...) \
  LATCHKEY_DETAIL_MAP(LATCHKEY_DETAIL_NAME, LATCHKEY_DETAIL_COMMA __VA_OPT__(, ) __VA_ARGS__)
#define LATCHKEY_DETAIL_TYPES(...) \
  LATCHKEY_DETAIL_MAP(LATCHKEY_DETAIL_TYPE, LATCHKEY_DETAIL_COMMA __VA_OPT__(, ) __VA_ARGS__)
#define LATCHKEY_DETAIL_FORWARDS(...) \
  LATCHKEY_DETAIL_MAP(LATCHKEY_DETAIL_FORWARD, LATCHKEY_DETAIL_COMMA __VA_OPT__(, ) __VA_ARGS__)

// The middle part of AROUND, for names that are the result of a macro.
#define LATCHKEY_DETAIL_WITH(...) LATCHKEY_DETAIL_WITH_NOW(__VA_ARGS__)
#define LATCHKEY_DETAIL_WITH_NOW(...) LATCHKEY_DETAIL_GIVEN(__VA_ARGS__)

#define LATCHKEY_DETAIL_CHECK_ARGUMENT(item)                                                     \
  static_assert(LATCHKEY_DETAIL_HAS_PARENS(item),                                                \
                "latchkey: DECORATED: `" #item "` should be (type) name: each type goes in "     \
                "parentheses, as does a result with a comma in it");                             \
  static_assert(!LATCHKEY_DETAIL_IS_NAMELESS(item),                                              \
                "latchkey: DECORATED: `" #item "` has no name: each argument is (type) name, "   \
                "and only the first parenthesis may hold specifiers");                           \
  static_assert(!::latchkey::detail::has_default(#item),                                         \
                "latchkey: DECORATED: `" #item "` has a default value, which a decorated "       \
                "argument cannot have: write a second method without it that calls this one");

// A specifier is recognised by pasting it after a prefix: the resulting macro exists and is empty.
#define LATCHKEY_DETAIL_CHECK_SPECIFIER(word)                                                    \
  static_assert(LATCHKEY_DETAIL_IS_EMPTY(LATCHKEY_DETAIL_KNOWN_##word),                          \
                "latchkey: DECORATED: unknown specifier `" #word "`; expected const, volatile, " \
                "override, final or noexcept, separated by commas. If it is an argument, add "   \
                "its name: (type) name");
#define LATCHKEY_DETAIL_KNOWN_
#define LATCHKEY_DETAIL_KNOWN_const
#define LATCHKEY_DETAIL_KNOWN_volatile
#define LATCHKEY_DETAIL_KNOWN_override
#define LATCHKEY_DETAIL_KNOWN_final
#define LATCHKEY_DETAIL_KNOWN_noexcept

#define LATCHKEY_DETAIL_SAID(operation, ...) \
  LATCHKEY_DETAIL_MAP(operation, LATCHKEY_DETAIL_NOTHING, __VA_ARGS__)
#define LATCHKEY_DETAIL_SAY(word) word
#define LATCHKEY_DETAIL_SAY_OF_BODY(word) LATCHKEY_DETAIL_BODY_##word
#define LATCHKEY_DETAIL_BODY_
#define LATCHKEY_DETAIL_BODY_const const
#define LATCHKEY_DETAIL_BODY_volatile volatile
#define LATCHKEY_DETAIL_BODY_override
#define LATCHKEY_DETAIL_BODY_final
#define LATCHKEY_DETAIL_BODY_noexcept noexcept
#define LATCHKEY_DETAIL_SAY_OF_LAMBDA(word) LATCHKEY_DETAIL_LAMBDA_##word
#define LATCHKEY_DETAIL_LAMBDA_
#define LATCHKEY_DETAIL_LAMBDA_const
#define LATCHKEY_DETAIL_LAMBDA_volatile
#define LATCHKEY_DETAIL_LAMBDA_override
#define LATCHKEY_DETAIL_LAMBDA_final
#define LATCHKEY_DETAIL_LAMBDA_noexcept noexcept

// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)
