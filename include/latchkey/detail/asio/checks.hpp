// The compile errors for a wrong use of coroutines.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <latchkey/detail/asio/operation_awaiter.hpp>
#include <latchkey/detail/locked/key_text.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locked.hpp>

// static_assert takes a literal.
#define LATCHKEY_DETAIL_AWAIT_IT                                                              \
  "latchkey: await a LOCKED around a coroutine in the same expression: co_return co_await "   \
  "(LOCKED(...) AROUND(arguments) -> asio::awaitable<T> { ... }); in a function that is not " \
  "a coroutine its arguments would dangle: in a class declare it as DECORATED(LOCKED(...), "  \
  "asio::awaitable<T>, name, (type) argument)"

/// For `co_await lock.acquire()`.
#define LATCHKEY_DETAIL_BLOCKS                                                                   \
  "latchkey: acquire and try_acquire block their thread and give a Hold, which is not awaited: " \
  "write co_await latchkey::async_acquire(lock, wait, lease, boost::asio::use_awaitable)"

namespace latchkey::inline v1::detail {

template <class Executor>
inline constexpr bool is_refused_before<boost::asio::detail::awaitable_frame_base<Executor>*> =
    true;

/// The result that co_spawn would get if it called a LockedOperation.
template <class Body>
struct NeverSpawned {};

/// Whether a token is known not to be a coroutine that awaits, before Asio has made a handler of
/// it: a function for the outcome, or boost::asio::detached.
template <class Token, class Outcome>
inline constexpr bool is_users_token =
    !is_awaiting_coroutine<Token> &&
    (std::is_same_v<Token, boost::asio::detached_t> || std::is_invocable_v<Token&, Outcome>);

}  // namespace latchkey::inline v1::detail

// Asio asks these two before it looks into what it is given. So the compile errors are near the
// user's line, and not behind what asks an object how it is called.
namespace boost::asio {

template <class Text>
struct is_async_operation<latchkey::detail::KeyAt<Text>> : std::false_type {
  static_assert(latchkey::detail::never<Text>, LATCHKEY_DETAIL_PARENTHESES);
};
template <class Text>
struct is_async_operation<latchkey::detail::PolicyAt<Text>> : std::false_type {
  static_assert(latchkey::detail::never<Text>, LATCHKEY_DETAIL_PARENTHESES);
};

// A Hold is not awaited, whatever else Asio asks.
template <class... Arguments>
struct is_async_operation<latchkey::Hold, Arguments...> : std::false_type {
  static_assert(latchkey::detail::never<std::tuple<Arguments...>>, LATCHKEY_DETAIL_BLOCKS);
};
template <class... Arguments>
struct is_async_operation<std::optional<latchkey::Hold>, Arguments...> : std::false_type {
  static_assert(latchkey::detail::never<std::tuple<Arguments...>>, LATCHKEY_DETAIL_BLOCKS);
};

template <class Body>
struct detail::awaitable_signature<latchkey::detail::NeverSpawned<Body>> {
  static_assert(latchkey::detail::never<Body>, LATCHKEY_DETAIL_AWAIT_IT);
  using type = void(std::exception_ptr);
};

}  // namespace boost::asio
