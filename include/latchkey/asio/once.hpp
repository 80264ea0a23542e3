// A job that runs at most once for each scheduled instant, as a coroutine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <latchkey/detail/asio/body_cancellation.hpp>
#include <latchkey/once_per.hpp>

// GCC warns that the frames of these coroutines contain lambdas of the user's file, as they do.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace latchkey::inline v1 {
namespace detail {

/// The part of async_run that does not depend on the type of the body.
class OnceCoroutine {
 public:
  explicit OnceCoroutine(const OncePer& job) : attempt_(job.job_) {}
  OnceCoroutine(const OnceCoroutine&) = delete;
  OnceCoroutine& operator=(const OnceCoroutine&) = delete;

  /// Tries to take the instant.
  boost::asio::awaitable<void> take();
  [[nodiscard]] OnceAttempt& attempt() noexcept { return attempt_; }
  /// From the grant on: a loss of the lock cancels the body, if another run may then begin.
  [[nodiscard]] std::shared_ptr<BodyCancellation> begin(
      const boost::asio::any_io_executor& executor);
  /// The body has ended without an exception, or `by_loss` is the one with which the loss of the
  /// lock ended it. Marks the instant as done.
  boost::asio::awaitable<void> finish(std::exception_ptr by_loss);

 private:
  boost::asio::awaitable<void> mark();

  OnceAttempt attempt_;
};

template <class T>
inline constexpr bool is_awaitable_of_asio = false;
template <class T>
inline constexpr bool is_awaitable_of_asio<boost::asio::awaitable<T>> = true;

template <class Body>
using OnceBodyAwaitable =
    decltype(call_once_body(std::declval<Body&>(), std::declval<const OnceAttempt&>()));

template <class Body>
boost::asio::awaitable<void> run_once_body(
    Body& body, const OnceAttempt& attempt,
    OnceResult<typename OnceBodyAwaitable<Body>::value_type>& result) {
  co_await accept_all_cancellations();
  if constexpr (takes_run<Body>) {
    const OnceRun run = attempt.run();
    if constexpr (std::is_void_v<typename OnceBodyAwaitable<Body>::value_type>) {
      co_await std::invoke(body, run);
    } else {
      result.value.emplace(co_await std::invoke(body, run));
    }
  } else if constexpr (std::is_void_v<typename OnceBodyAwaitable<Body>::value_type>) {
    co_await std::invoke(body);
  } else {
    result.value.emplace(co_await std::invoke(body));
  }
}

}  // namespace detail

/// OncePer::run in a coroutine: `co_await latchkey::async_run(job, body)` blocks no thread. `body`
/// takes nothing or a `const OnceRun&`, which lives as long as the body runs, and returns an
/// asio::awaitable<T>; the result is a OnceResult<T>. It runs on a strand of its own over the
/// executor of its caller.
///
/// The promises and errors are those of OncePer::run. With OnFailure::retry a loss of the lock
/// cancels the body, whose end is then LockLost. A cancellation of the caller ends the wait
/// (OncePerOptions::wait) with Cancelled, or is passed on to the body: a body that ends normally
/// all the same has run, and its instant is marked. If the context is destroyed, the run has
/// failed.
template <class Body>
auto async_run(OncePer job, Body body)
    -> boost::asio::awaitable<OnceResult<typename detail::OnceBodyAwaitable<Body>::value_type>> {
  namespace asio = boost::asio;
  static_assert(detail::is_awaitable_of_asio<detail::OnceBodyAwaitable<Body>>,
                "latchkey: the body of async_run is a coroutine: it returns asio::awaitable<T>");
  OnceResult<typename detail::OnceBodyAwaitable<Body>::value_type> result;
  detail::OnceCoroutine once(job);
  co_await once.take();
  static_cast<OnceReport&>(result) = once.attempt().report();
  if (!once.attempt().may_run()) co_return result;
  std::exception_ptr by_loss;
  {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const asio::cancellation_state outer = co_await asio::this_coro::cancellation_state;
    const std::shared_ptr<detail::BodyCancellation> cancellation = once.begin(executor);
    cancellation->forward_cancellation(outer.slot());
    try {
      co_await asio::co_spawn(
          cancellation->executor(), detail::run_once_body(body, once.attempt(), result),
          asio::bind_cancellation_slot(cancellation->slot(), asio::use_awaitable));
    } catch (...) {
      try {
        by_loss = cancellation->failed_in_body();
      } catch (...) {
        cancellation->end_cancellation();
        once.attempt().note_exception();
        throw;
      }
    }
    cancellation->end_cancellation();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await once.finish(std::move(by_loss));
  co_await asio::this_coro::reset_cancellation_state();
  co_return result;
}

}  // namespace latchkey::inline v1

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
