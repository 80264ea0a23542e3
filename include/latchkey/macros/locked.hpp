// LOCKED, LOCKED_ONCE_PER, AROUND, HERE, KEYS, ASSERT_HELD: macros that parse and forward.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <source_location>

/// A captureless callable of a unique type: makes a source location part of a type.
#define LATCHKEY_DETAIL_HERE [] { return ::std::source_location::current(); }

/// A captureless callable for a text and its place: `make` is a function that returns a PlacedText.
#define LATCHKEY_DETAIL_PLACED(make, ...) [] { return ::latchkey::detail::make(__VA_ARGS__); }

/// The key of LOCKED with what is written after it. Without a key an overload says so.
#define LATCHKEY_DETAIL_PLACED_KEY(LATCHKEY_terms, ...) \
  [] { return ::latchkey::detail::placed_key(__VA_ARGS__).with(LATCHKEY_terms); }

/// The arguments of AROUND, their names, and the place.
#define LATCHKEY_DETAIL_GIVEN(...)                                       \
  (::latchkey::detail::Given{::latchkey::detail::Addresses{__VA_ARGS__}, \
                             LATCHKEY_DETAIL_PLACED(placed, #__VA_ARGS__)})

/// The arguments of HERE, their names, the place, and the function that HERE is in.
#define LATCHKEY_DETAIL_GIVEN_FOR_SCOPE(...)                                                    \
  (::latchkey::detail::GivenForScope{                                                           \
      ::latchkey::detail::Addresses{__VA_ARGS__}, LATCHKEY_DETAIL_PLACED(placed, #__VA_ARGS__), \
      ::latchkey::detail::ScopeFunction<::latchkey::detail::gives_awaitable()>{}})

// The comments inside the macros are for users who write LOCKED in a place without expressions: the
// compiler shows these lines in its error.
// clang-format off

#define LATCHKEY_DETAIL_KEY_AT(LATCHKEY_key, LATCHKEY_terms)                                       \
  ::latchkey::detail::KeyAt{  /* inside a function: LOCKED(key) AROUND(arguments) { body } */      \
      ::latchkey::detail::Checked<  /* inside a function: LOCKED(key) AROUND(arguments) { body } */\
          ::latchkey::detail::is_key(LATCHKEY_key)>{},                                             \
      LATCHKEY_DETAIL_PLACED_KEY(LATCHKEY_terms, LATCHKEY_key)}

/// LOCKED(key [, LockType [, wait [, lease]]]): see latchkey::Locked. In some lines, because GCC 16
/// shows all lines of an expression that an error is about.
#define LATCHKEY_LOCKED(LATCHKEY_key, ...)                                                         \
  (  /* inside a function: LOCKED(key) AROUND(arguments) { body } */                               \
  LATCHKEY_DETAIL_KEY_AT(LATCHKEY_key, #__VA_ARGS__)) *                                            \
      ::latchkey::terms<::latchkey::detail::named_type(#__VA_ARGS__)>(__VA_ARGS__)

/// LOCKED_BY("money"): see latchkey::locked_by.
#define LATCHKEY_LOCKED_BY(...)                                                     \
  (::latchkey::detail::PolicyAt{                                                    \
      ::latchkey::detail::Checked<::latchkey::detail::is_policy(__VA_ARGS__)>{},    \
      LATCHKEY_DETAIL_PLACED(placed_policy, __VA_ARGS__)                            \
  }) * ::latchkey::terms()

/// aspect AROUND(arguments) { body }: see latchkey::with_arguments. The body's result type is
/// deduced as for a lambda; `AROUND(account) -> const Receipt& { ... }` sets it.
#define LATCHKEY_AROUND(...)                                                                       \
  && LATCHKEY_DETAIL_GIVEN(__VA_ARGS__) &&                                    \
  [&]()  /* inside a function: LOCKED(key) AROUND(arguments) { body } */

// clang-format on

/// auto hold = LOCKED(...) HERE(arguments): see latchkey::for_scope.
#define LATCHKEY_HERE(...) &&LATCHKEY_DETAIL_GIVEN_FOR_SCOPE(__VA_ARGS__)

/// KEYS("a:{x}", "b:{y}"): several keys for one LOCKED.
#define LATCHKEY_KEYS(...) ::latchkey::detail::keys(__VA_ARGS__)

/// ASSERT_HELD("account:{account.id}", account): see latchkey::assert_held.
#define LATCHKEY_ASSERT_HELD(LATCHKEY_key, ...) \
  (::latchkey::assert_held<LATCHKEY_key, #__VA_ARGS__>(__VA_ARGS__))

/// LOCKED_ONCE_PER(key, period [, options]): see latchkey::LockedOncePer.
#define LATCHKEY_LOCKED_ONCE_PER(LATCHKEY_key, ...)                            \
  (::latchkey::detail::OnceKeyAt{                                              \
      ::latchkey::detail::Checked<::latchkey::detail::is_key(LATCHKEY_key)>{}, \
      LATCHKEY_DETAIL_PLACED_KEY(#__VA_ARGS__, LATCHKEY_key)}) *               \
      ::latchkey::once_terms(__VA_ARGS__)
