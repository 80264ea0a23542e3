// LOCK_ANNOTATED and AROUND_ANNOTATED: one word in a body runs it under its function's annotations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <exception>
#include <meta>
#include <type_traits>

#include <latchkey/annotations/binding.hpp>
#include <latchkey/annotations/call.hpp>
#include <latchkey/annotations/function.hpp>
#include <latchkey/annotations/mistakes.hpp>
#include <latchkey/locked/locked_call.hpp>
#include <latchkey/locked/run.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The most parameters of a function with a word in its body.
inline constexpr std::size_t most_parameters = 16;

/// Stands for a parameter that a function does not have.
inline constexpr char no_parameter = 0;

template <std::meta::info Function>
inline constexpr std::size_t parameter_count = parameters_of(Function).size();

template <std::meta::info Function>
consteval std::meta::info parameter_at(std::size_t index) {
  return index < parameter_count<Function> ? variable_of(parameters_of(Function)[index])
                                           : ^^no_parameter;
}

/// The lock of LOCK_ANNOTATED, from the word to the end of its scope. Ends as the call of a LOCKED
/// does: its destructor releases, and throws LockLost, ReleaseUnconfirmed and BackendRefused after
/// a body that returned.
template <std::meta::info Function>
class AnnotatedScope {
  using Call = AnnotatedCall<Function>;
  using Ready = typename Call::Ready;
  using Options = typename Ready::Options;

 public:
  using Result = typename Call::Result;

  explicit AnnotatedScope(const void* const* addresses)
      : ready_(Call::ready(addresses)), locked_(ready_.decorator.options) {
    Ready::template enroll<Result>();
    WordIn<Function>::enroll();
    if constexpr (is_virtual(Function)) {
      if (ProxiedCall::holds(Ready::template site<Result>, addresses)) {
        entry_ = Entry::unneeded;
        return;
      }
    }
    entry_ = ready_.template enter<Result>(locked_);
  }
  AnnotatedScope(const AnnotatedScope&) = delete;
  AnnotatedScope& operator=(const AnnotatedScope&) = delete;
  ~AnnotatedScope() noexcept(Options::never_throws) {
    if (entry_ == Entry::held && std::uncaught_exceptions() == exceptions_) locked_.leave();
  }

  [[nodiscard]] bool runs() const noexcept {
    return entry_ == Entry::held || entry_ == Entry::unneeded;
  }
  /// The result, if the body does not run.
  [[nodiscard]] Result without_body() const { return ready_.template without_body<Result>(entry_); }

 private:
  Ready ready_;
  LockedCall locked_;
  int exceptions_ = std::uncaught_exceptions();
  Entry entry_ = Entry::unavailable;  // unneeded: a proxy holds the lock of this call
};

/// `annotated_body<function>(addresses) && body`.
template <std::meta::info Function>
[[gnu::always_inline]] inline auto annotated_body(const void* const* addresses) noexcept {
  WordIn<Function>::enroll();
  return AnnotatedCall<Function>::ready(addresses);
}

/// The addresses of the first `Count` of most_parameters objects. The other ones cost nothing.
template <std::size_t Count>
struct ParameterAddresses {
  template <class... Pointers>
  [[gnu::always_inline]] explicit ParameterAddresses(Pointers... pointers) noexcept {
    static_assert(sizeof...(Pointers) == most_parameters);
    std::size_t index = 0;
    static_cast<void>(((index < Count && (all[index] = pointers, true), ++index), ...));
  }

  const void* all[Count + 1];
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop

// clang-format off
#define LATCHKEY_DETAIL_THIS_FUNCTION ::std::meta::current_function()
#define LATCHKEY_DETAIL_ARGUMENT(index)                                                         \
  __builtin_addressof([: ::latchkey::detail::parameter_at<LATCHKEY_DETAIL_THIS_FUNCTION>(index) :])
#define LATCHKEY_DETAIL_ALL_PARAMETERS                                                           \
  LATCHKEY_DETAIL_ARGUMENT(0), LATCHKEY_DETAIL_ARGUMENT(1), LATCHKEY_DETAIL_ARGUMENT(2),      \
  LATCHKEY_DETAIL_ARGUMENT(3), LATCHKEY_DETAIL_ARGUMENT(4), LATCHKEY_DETAIL_ARGUMENT(5),      \
  LATCHKEY_DETAIL_ARGUMENT(6), LATCHKEY_DETAIL_ARGUMENT(7), LATCHKEY_DETAIL_ARGUMENT(8),      \
  LATCHKEY_DETAIL_ARGUMENT(9), LATCHKEY_DETAIL_ARGUMENT(10), LATCHKEY_DETAIL_ARGUMENT(11),    \
  LATCHKEY_DETAIL_ARGUMENT(12), LATCHKEY_DETAIL_ARGUMENT(13), LATCHKEY_DETAIL_ARGUMENT(14),   \
  LATCHKEY_DETAIL_ARGUMENT(15)

/// LOCK_ANNOTATED; takes the lock of this function's [[=latchkey::locked(...)]] from here to the
/// end of the scope. What a call of LOCKED throws or returns instead of its body, the function
/// throws or returns here.
#define LATCHKEY_LOCK_ANNOTATED                                                                  \
  static_assert(::latchkey::detail::lock_word_check<LATCHKEY_DETAIL_THIS_FUNCTION>.fits,         \
                ::latchkey::detail::lock_word_check<LATCHKEY_DETAIL_THIS_FUNCTION>);             \
  static_assert(::latchkey::detail::LockOptionChecks<LATCHKEY_DETAIL_THIS_FUNCTION>::run());     \
  const ::latchkey::detail::ParameterAddresses<                                                  \
      ::latchkey::detail::parameter_count<LATCHKEY_DETAIL_THIS_FUNCTION>>                        \
      latchkey_parameters(LATCHKEY_DETAIL_ALL_PARAMETERS);                                       \
  ::latchkey::detail::AnnotatedScope<LATCHKEY_DETAIL_THIS_FUNCTION> latchkey_scope(              \
      latchkey_parameters.all);                                                                  \
  if (!latchkey_scope.runs()) [[unlikely]] return latchkey_scope.without_body()

/// AROUND_ANNOTATED { body }; runs the body under all annotations of this function, also
/// latchkey::once_per and aspects of one's own, as AROUND does.
#define LATCHKEY_AROUND_ANNOTATED                                                                \
  static_assert(::latchkey::detail::around_word_check<LATCHKEY_DETAIL_THIS_FUNCTION>.fits,       \
                ::latchkey::detail::around_word_check<LATCHKEY_DETAIL_THIS_FUNCTION>);           \
  static_assert(::latchkey::detail::AroundOptionChecks<LATCHKEY_DETAIL_THIS_FUNCTION>::run());   \
  return ::latchkey::detail::annotated_body<LATCHKEY_DETAIL_THIS_FUNCTION>(                      \
             ::latchkey::detail::ParameterAddresses<                                             \
                 ::latchkey::detail::parameter_count<LATCHKEY_DETAIL_THIS_FUNCTION>>(            \
                 LATCHKEY_DETAIL_ALL_PARAMETERS).all) &&                                         \
         [&]() -> typename[:return_type_of(LATCHKEY_DETAIL_THIS_FUNCTION):]
// clang-format on

#ifndef LATCHKEY_NO_SHORT_MACROS
#define LOCK_ANNOTATED LATCHKEY_LOCK_ANNOTATED
#define AROUND_ANNOTATED LATCHKEY_AROUND_ANNOTATED
#endif
