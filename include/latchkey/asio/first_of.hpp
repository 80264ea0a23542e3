// The operator || of coroutines, for acquires.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>

#include <latchkey/hold.hpp>

namespace latchkey::inline v1 {
namespace detail {

template <class T>
inline constexpr bool is_acquired =
    std::is_same_v<T, Hold> || std::is_same_v<T, std::optional<Hold>>;

template <class T>
using Alternative = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T, class Executor>
boost::asio::awaitable<void, Executor> await_into(boost::asio::awaitable<T, Executor> from,
                                                  std::optional<Alternative<T>>& to) {
  if constexpr (std::is_void_v<T>) {
    co_await std::move(from);
    to.emplace();
  } else {
    to.emplace(co_await std::move(from));
  }
}

template <class T, class U, class Executor>
boost::asio::awaitable<std::variant<Alternative<T>, Alternative<U>>, Executor> first_of(
    boost::asio::awaitable<T, Executor> left, boost::asio::awaitable<U, Executor> right) {
  namespace asio = boost::asio;
  std::optional<Alternative<T>> of_left;
  std::optional<Alternative<U>> of_right;
  const auto executor = co_await asio::this_coro::executor;
  const auto [order, left_error, right_error] =
      co_await asio::experimental::make_parallel_group(
          asio::co_spawn(executor, await_into(std::move(left), of_left), asio::deferred),
          asio::co_spawn(executor, await_into(std::move(right), of_right), asio::deferred))
          .async_wait(asio::experimental::wait_for_one(), asio::deferred);
  using Result = std::variant<Alternative<T>, Alternative<U>>;
  if (order[0] == 0) {
    if (left_error) std::rethrow_exception(left_error);
    co_return Result(std::in_place_index<0>, std::move(*of_left));
  }
  if (right_error) std::rethrow_exception(right_error);
  co_return Result(std::in_place_index<1>, std::move(*of_right));
}

}  // namespace detail

/// `co_await (async_acquire(lock, use_awaitable) || timer.async_wait(use_awaitable))`: ends when
/// the first of the two ends, cancels the other one, and throws if the first one failed. The result
/// is a variant, as with Asio's operator. That one would wait for the first *success*: it would
/// keep an error of the acquire back until the timer ends, and then drop it. A grant that comes
/// after the timer is given back.
///
/// Chosen instead of Asio's operator if one side is a coroutine that returns a Hold or a
/// std::optional<Hold>. For a limit on the wait alone, give `wait` to async_try_acquire instead.
template <class T, class U, class Executor>
  requires(detail::is_acquired<T> || detail::is_acquired<U>)
auto operator||(boost::asio::awaitable<T, Executor> left,
                boost::asio::awaitable<U, Executor> right) {
  return detail::first_of(std::move(left), std::move(right));
}
template <class T, class Executor>
  requires(detail::is_acquired<T>)
auto operator||(boost::asio::awaitable<T, Executor> left,
                boost::asio::awaitable<void, Executor> right) {
  return detail::first_of(std::move(left), std::move(right));
}
template <class U, class Executor>
  requires(detail::is_acquired<U>)
auto operator||(boost::asio::awaitable<void, Executor> left,
                boost::asio::awaitable<U, Executor> right) {
  return detail::first_of(std::move(left), std::move(right));
}

}  // namespace latchkey::inline v1
