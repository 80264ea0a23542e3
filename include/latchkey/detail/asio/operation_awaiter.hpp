// How a coroutine of Asio awaits a LOCKED.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>

#include <boost/asio/awaitable.hpp>

namespace latchkey::inline v1::detail {

template <class Ready, class Body>
class LockedOperation;

template <class T>
inline constexpr bool is_locked_operation = false;
template <class Ready, class Body>
inline constexpr bool is_locked_operation<LockedOperation<Ready, Body>> = true;

template <class Executor>
void take_awaiting_thread(const boost::asio::detail::awaitable_thread<Executor>&);

/// Whether a handler is a coroutine that awaits the operation.
template <class Handler>
inline constexpr bool is_awaiting_coroutine =
    requires(const Handler& handler) { take_awaiting_thread(handler); };

/// Awaits what Asio makes of a LockedOperation. That yields the record of the call; this yields its
/// result, or throws its error.
template <class AsyncOperation>
class OperationAwaiter {
 public:
  explicit OperationAwaiter(AsyncOperation& operation) noexcept : operation_(operation) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> suspended) {
    operation_.await_suspend(suspended);
  }
  auto await_resume() { return operation_.await_resume()->take(); }

 private:
  AsyncOperation& operation_;
};

/// Asio's promise turns the operation into an AsyncOperation, of which it is a template argument,
/// so co_await finds this function.
template <template <class...> class AsyncOperation, class... Parts>
  requires(is_locked_operation<std::remove_cvref_t<Parts>> || ...)
auto operator co_await(AsyncOperation<Parts...>&& operation) noexcept {
  return OperationAwaiter<AsyncOperation<Parts...>>(operation);
}

}  // namespace latchkey::inline v1::detail
