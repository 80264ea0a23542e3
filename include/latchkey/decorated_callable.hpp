// Applies an aspect to a callable: every call of the result runs under the aspect.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include <latchkey/aspect.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {

/// The parameter and result types of a callable. Undefined for a callable that is overloaded or a
/// template.
template <class Function>
struct Signature;

template <class Result, bool NoThrow, class... Parameters>
struct SignatureOf {
  using result = Result;
  static constexpr bool no_throw = NoThrow;
  template <template <class, bool, class...> class Template>
  using apply = Template<Result, NoThrow, Parameters...>;
};

template <class R, class... P>
struct Signature<R (*)(P...)> : SignatureOf<R, false, P...> {};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : SignatureOf<R, true, P...> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...)> : SignatureOf<R, false, P...> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const> : SignatureOf<R, false, P...> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) noexcept> : SignatureOf<R, true, P...> {};
template <class R, class C, class... P>
struct Signature<R (C::*)(P...) const noexcept> : SignatureOf<R, true, P...> {};

template <class Function>
concept HasOneCallOperator = requires { &Function::operator(); };
template <class Function>
concept IsFunctionPointer =
    std::is_pointer_v<Function> && std::is_function_v<std::remove_pointer_t<Function>>;

template <class Function>
struct CallSignature;
template <HasOneCallOperator Function>
struct CallSignature<Function> : Signature<decltype(&Function::operator())> {};
template <IsFunctionPointer Function>
struct CallSignature<Function> : Signature<Function> {};

/// Whether a decorated callable takes a lock. Any other callable may do so too, which is not seen.
template <class Function>
inline constexpr bool takes_lock_when_called = false;
template <class Function>
  requires requires { typename std::bool_constant<Function::takes_lock>; }
inline constexpr bool takes_lock_when_called<Function> = Function::takes_lock;

/// Declares the wrapper. Its parameters are exactly those of the callable, so it converts to the
/// same function types as the callable.
template <class Decorator, class Where, class Function>
struct DecoratedBy {
  template <class Result, bool NoThrow, class... Parameters>
  class Callable {
    template <class D>
    using ReadyWith =
        ReadyFor<std::remove_reference_t<D>, Where, std::remove_reference_t<Parameters>...>;
    using Given = Addresses<std::remove_reference_t<Parameters>...>;

   public:
    using KeyChecks = typename ReadyWith<Decorator>::KeyChecks;
    static constexpr bool takes_lock =
        std::remove_cvref_t<Decorator>::takes_lock || takes_lock_when_called<Function>;

    Callable(Decorator decorator, Function function)
        : decorator_(std::forward<Decorator>(decorator)), function_(std::move(function)) {
      // Registers the site even if the wrapper is never called.
      ReadyWith<Decorator>::template enroll<Result>();
    }

    Result operator()(Parameters... parameters) const noexcept(NoThrow)
      requires std::is_invocable_v<const Function&, Parameters...>
    {
      auto body = [&]() noexcept(NoThrow) -> Result {
        return function_(static_cast<Parameters&&>(parameters)...);
      };
      return ReadyWith<decltype((decorator_))>{{decorator_, Given{parameters...}.all}} && body;
    }
    Result operator()(Parameters... parameters) noexcept(NoThrow)
      requires(!std::is_invocable_v<const Function&, Parameters...>)
    {
      auto body = [&]() noexcept(NoThrow) -> Result {
        return function_(static_cast<Parameters&&>(parameters)...);
      };
      return ReadyWith<decltype((decorator_))>{{decorator_, Given{parameters...}.all}} && body;
    }

   private:
    Decorator decorator_;
    Function function_;
  };
};

/// `Place` returns the source location.
template <class Place, class Decorator, class Function>
auto decorate_at(Decorator&& decorator, Function&& function) {
  using Kept = std::decay_t<Function>;
  static_assert(
      !std::remove_cvref_t<Decorator>::belongs_inside_lock || !takes_lock_when_called<Kept>,
      LATCHKEY_DETAIL_INSIDE_LOCK);
  constexpr bool has_signature = HasOneCallOperator<Kept> || IsFunctionPointer<Kept>;
  static_assert(
      has_signature,
      "latchkey: a decorator can be applied to a function or to an object with one operator() "
      "that is not a template; wrap a generic lambda in one that names its types");
  if constexpr (has_signature) {
    using By = DecoratedBy<Decorator, LiteralAt<"", Place>, Kept>;
    using Wrapper = typename CallSignature<Kept>::template apply<By::template Callable>;
    static_assert(Wrapper::KeyChecks::run());
    return Wrapper(std::forward<Decorator>(decorator), std::forward<Function>(function));
  }
}

template <class Outer, class Inner>
template <class Function>
auto Both<Outer, Inner>::operator()(Function&& function) && {
  return decorate_at<Place>(std::move(*this), std::forward<Function>(function));
}

}  // namespace detail

/// Returns a callable that runs `function` under `aspect` at every call, with the same parameters
/// and result. An lvalue aspect is held by reference and must outlive the callable. The callable is
/// thread-safe if the aspect and the function are, and copyable if both are.
template <class Decorator, class Function, class Where = detail::NoPlace>
  requires detail::is_aspect<Decorator>
auto decorate(Decorator&& aspect, Function&& function, Where = {}) {
  return detail::decorate_at<Where>(std::forward<Decorator>(aspect),
                                    std::forward<Function>(function));
}

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
