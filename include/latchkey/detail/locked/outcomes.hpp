// Which strategies are possible for a result type, and the result if the body did not run.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>

#include <latchkey/completes_at_return.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/strategy.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

template <class S>
inline constexpr bool is_skip_with = false;
template <class V>
inline constexpr bool is_skip_with<strategy::SkipWith<V>> = true;
template <class S>
inline constexpr bool is_fallback = false;
template <class F>
inline constexpr bool is_fallback<strategy::Fallback<F>> = true;

/// Types with a null value: pointers of all kinds.
template <class R>
concept Nullable =
    std::is_pointer_v<R> ||
    (std::is_class_v<R> && std::is_constructible_v<R, std::nullptr_t> &&
     std::is_constructible_v<bool, const R&> && requires(const R& result) { result == nullptr; });

template <class R>
concept OptionalLike = std::is_class_v<R> && requires(const R& result) {
  result.has_value();
  *result;
} && std::is_default_constructible_v<R> && !requires(const R& result) { result.error(); };

template <class R>
concept ExpectedLike = std::is_class_v<R> && requires(const R& result) {
  result.has_value();
  result.error();
  typename R::error_type;
  typename R::unexpected_type;
};

template <class Error>
inline constexpr bool makes_error =
    std::is_constructible_v<Error, NotRun> || std::is_same_v<Error, std::exception_ptr> ||
    std::is_constructible_v<Error, std::error_code> || std::is_constructible_v<Error, std::errc>;

/// Whether a result of this type can express that the body did not run.
template <class R>
constexpr bool can_be_skipped() {
  if constexpr (ExpectedLike<R>) {
    return makes_error<typename R::error_type>;
  } else {
    return std::is_void_v<R> || OptionalLike<R> || Nullable<R>;
  }
}

/// The exception in flight if there is one; otherwise a new one for `why`.
std::exception_ptr error_of(Entry why);

template <class Error>
Error make_error(Entry why) {
  const bool busy = why == Entry::timeout || why == Entry::skipped_timeout;
  const std::errc code = busy ? std::errc::timed_out : std::errc::resource_unavailable_try_again;
  if constexpr (std::is_constructible_v<Error, NotRun>) {
    return Error(busy ? NotRun::timeout : NotRun::unavailable);
  } else if constexpr (std::is_same_v<Error, std::exception_ptr>) {
    return error_of(why);
  } else if constexpr (std::is_constructible_v<Error, std::error_code>) {
    return Error(std::make_error_code(code));
  } else {
    return Error(code);
  }
}

/// The result that means that the body did not run.
template <class R>
R skipped(Entry why) {
  if constexpr (std::is_void_v<R>) {
    static_cast<void>(why);
  } else if constexpr (ExpectedLike<R>) {
    return R(typename R::unexpected_type(make_error<typename R::error_type>(why)));
  } else if constexpr (OptionalLike<R>) {
    return R();  // before Nullable: optional<T*>(nullptr) would mean that the body ran
  } else {
    return R(nullptr);
  }
}

/// How a fallback can be called for these arguments.
template <class Function>
struct FallbackFor {
  template <class... Arguments>
  struct With {
    static constexpr bool takes_arguments =
        std::is_invocable_v<const Function&, const Arguments&...>;
    static constexpr bool takes_nothing = std::is_invocable_v<const Function&>;
    static constexpr bool callable = takes_arguments || takes_nothing;
  };
};

template <class Function, class Call>
decltype(auto) call_fallback(const Function& function, const Call& call) {
  using Fit = typename Call::template with_arguments<FallbackFor<Function>::template With>;
  if constexpr (Fit::takes_arguments) {
    return call.apply(
        [&](const auto&... arguments) -> decltype(auto) { return function(arguments...); });
  } else {
    return function();
  }
}

/// Whether `Given` can become the result. For a reference the fallback must return a reference.
template <class R, class Given>
inline constexpr bool gives =
    std::is_void_v<R> ||
    (std::is_reference_v<R> ? std::is_reference_v<Given> && std::is_convertible_v<Given, R>
                            : std::is_convertible_v<Given, R>);

/// Whether the strategy itself supplies a result.
template <class Strategy>
inline constexpr bool answers =
    std::is_same_v<Strategy, strategy::Skip> || is_skip_with<Strategy> || is_fallback<Strategy>;

/// The result of the strategy, if the body did not run.
template <class R, class Strategy, class Call>
R answer(const Strategy& strategy, Entry why, const Call& call) {
  if constexpr (is_skip_with<Strategy>) {
    return strategy.value;
  } else if constexpr (is_fallback<Strategy>) {
    if constexpr (std::is_void_v<R>) {
      static_cast<void>(call_fallback(strategy.function, call));
    } else {
      return call_fallback(strategy.function, call);
    }
  } else {
    return skipped<R>(why);
  }
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
