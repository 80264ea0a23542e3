// Whether a body has done its work when it returns.
#pragma once

#include <string_view>
#include <type_traits>

namespace latchkey {
namespace detail {

template <class R>
concept Awaitable = requires(R& result) { result.await_ready(); } || requires(R& result) {
  result.operator co_await();
} || requires(R& result) { operator co_await(result); };

template <class R>
concept Coroutine = requires { typename R::promise_type; };

/// std::future, std::shared_future and their kin.
template <class R>
concept Future = requires(R& result) {
  result.get();
  result.wait();
  result.valid();
};

/// A view computes when it is read; one with data() and size() is a window on what is there.
template <class R>
concept LazyView =
    std::is_class_v<R> && std::ranges::enable_view<R> && !requires(R& result) { result.data(); };

struct WithCallOperator {
  void operator()();
};
template <class R>
struct MaybeTwoCallOperators : R, WithCallOperator {};

/// Naming the operator is ambiguous exactly where R has one too, a template included.
template <class R>
constexpr bool has_call_operator() {
  if constexpr (std::is_class_v<R> && !std::is_final_v<R>) {
    return !requires { &MaybeTwoCallOperators<R>::operator(); };
  } else {
    return requires { &R::operator(); };
  }
}

template <class R>
constexpr bool guess_completes() {
  if constexpr (std::is_class_v<R>) {
    return !(Awaitable<R> || Coroutine<R> || Future<R> || LazyView<R> || has_call_operator<R>());
  } else {
    return true;
  }
}

}  // namespace detail

/// False for results that carry work which runs after the body has returned, when the lock is free
/// again: futures, awaitables, coroutines, generators, lazy views, callables. Under LOCKED such a
/// body does not compile. A type for which the guess is wrong says so:
///
///     template <>
///     inline constexpr bool latchkey::completes_at_return<Finished> = true;
///
/// Only the result itself is looked at, not what it points to or contains.
template <class R>
inline constexpr bool completes_at_return = detail::guess_completes<R>();

}  // namespace latchkey
