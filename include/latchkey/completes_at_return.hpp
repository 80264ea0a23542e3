// Whether a body has finished its work when it returns.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {

template <class R>
concept Awaitable = requires(R& result) { result.await_ready(); } || requires(R& result) {
  result.operator co_await();
} || requires(R& result) { operator co_await(result); };

template <class R>
concept Coroutine = requires { typename R::promise_type; };

/// std::future, std::shared_future and similar types.
template <class R>
concept Future = requires(R& result) {
  result.get();
  result.wait();
  result.valid();
};

/// A view computes when it is read. A view with data() and size() refers to existing elements, and
/// std::optional, which C++26 counts among the views, has its one element.
template <class R>
concept LazyView = std::is_class_v<R> && std::ranges::enable_view<R> && !requires(R& result) {
  result.data();
} && !requires(R& result) { result.has_value(); };

struct WithCallOperator {
  void operator()();
};
template <class R>
struct MaybeTwoCallOperators : R, WithCallOperator {};

/// Naming the operator is ambiguous exactly if R has one too, even as a template.
template <class R>
constexpr bool has_call_operator() {
  if constexpr (std::is_class_v<R> && !std::is_final_v<R>) {
    return !requires { &MaybeTwoCallOperators<R>::operator(); };
  } else {
    return requires { &R::operator(); };
  }
}

/// std::thread and std::jthread.
template <class R>
concept Thread = requires(R& result) {
  result.join();
  result.joinable();
};

template <class R>
constexpr bool guess_completes();

}  // namespace detail

/// False for results that carry work which runs after the body has returned, when the lock is
/// released already: futures, threads, awaitables, coroutines, generators, lazy views, callables;
/// and for structs, containers, optionals and other templates that hold one of the first four.
/// Under LOCKED such a body does not compile. Correct a wrong guess for a type by a specialisation:
///
///     template <>
///     inline constexpr bool latchkey::completes_at_return<Finished> = true;
///
/// The first twelve members of a struct are examined, and none of a class with private members.
template <class R>
inline constexpr bool completes_at_return = detail::guess_completes<R>();

namespace detail {

/// How many levels of nested structs and templates are examined.
inline constexpr int levels_looked_at = 4;

template <class R>
concept RunsLater =
    std::is_class_v<R> && (Awaitable<R> || Coroutine<R> || Future<R> || Thread<R>) &&
    !completes_at_return<R>;

template <class R, int Levels>
constexpr bool holds_work();

template <class R, int Levels>
concept CarriesWork = RunsLater<R> || holds_work<R, Levels>();

/// Converts to any type that carries work; Whatever converts to any type, Nothing to none.
template <int Levels>
struct Work {
  template <class R>
    requires CarriesWork<R, Levels>
  operator R() const;  // NOLINT(google-explicit-constructor)
};
struct Whatever {
  template <class R>
  operator R() const;  // NOLINT(google-explicit-constructor)
};
struct Nothing {};

template <std::size_t>
using WhateverAt = Whatever;

// A member that accepts Nothing accepts every type, as std::any does.
template <class R, int Levels, std::size_t... Before, std::size_t... After>
constexpr bool is_work_at(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires { R{WhateverAt<Before>{}..., Work<Levels>{}, WhateverAt<After>{}...}; } &&
         !requires { R{WhateverAt<Before>{}..., Nothing{}, WhateverAt<After>{}...}; };
}

template <class R, int Levels, std::size_t... At>
constexpr bool has_work(std::index_sequence<At...>) {
  return (is_work_at<R, Levels>(std::make_index_sequence<At>{},
                                std::make_index_sequence<sizeof...(At) - At - 1>{}) ||
          ...);
}

template <class R, std::size_t... At>
constexpr bool takes(std::index_sequence<At...>) {
  return requires { R{WhateverAt<At>{}...}; };
}

template <class R, std::size_t Most = 12>
constexpr std::size_t members_looked_at() {
  if constexpr (Most == 0 || takes<R>(std::make_index_sequence<Most>{})) {
    return Most;
  } else {
    return members_looked_at<R, Most - 1>();
  }
}

/// True for std::optional<T>, std::vector<T>, std::pair<T, U>, std::unique_ptr<T> and the like if T
/// or U carries work.
template <class R, int Levels>
inline constexpr bool is_template_of_work = false;
template <template <class...> class Template, class... Arguments, int Levels>
inline constexpr bool is_template_of_work<Template<Arguments...>, Levels> =
    (CarriesWork<Arguments, Levels> || ...);

template <class R, int Levels>
constexpr bool holds_work() {
  if constexpr (Levels == 0 || !std::is_class_v<R>) {
    return false;
  } else if constexpr (is_template_of_work<R, Levels - 1>) {
    return true;
  } else if constexpr (std::is_aggregate_v<R>) {
    return has_work<R, Levels - 1>(std::make_index_sequence<members_looked_at<R>()>{});
  } else {
    return false;
  }
}

template <class R>
constexpr bool guess_completes() {
  if constexpr (std::is_class_v<R>) {
    return !(Awaitable<R> || Coroutine<R> || Future<R> || Thread<R> || LazyView<R> ||
             has_call_operator<R>() || holds_work<R, levels_looked_at>());
  } else {
    return true;
  }
}

}  // namespace detail

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
