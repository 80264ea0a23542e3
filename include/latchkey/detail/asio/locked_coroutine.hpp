// LOCKED around a body that is a coroutine of Asio.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <latchkey/detail/asio/checks.hpp>
#include <latchkey/detail/asio/coroutine_run.hpp>
#include <latchkey/detail/asio/operation_awaiter.hpp>
#include <latchkey/detail/aspect/method_frame.hpp>
#include <latchkey/detail/locked/body_kind.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/outcomes.hpp>
#include <latchkey/detail/locked/run.hpp>
#include <latchkey/error.hpp>
#include <latchkey/key_schema.hpp>
#include <latchkey/locked.hpp>

namespace latchkey::inline v1::detail {

/// GCC 12 does: aggregates, and lambdas that capture by copy. Those before 15 count as it does.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 15
inline constexpr bool destroys_temporaries_twice = true;
#else
inline constexpr bool destroys_temporaries_twice = false;
#endif

// GCC warns that the frames of these coroutines contain lambdas of the user's file, as they do.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

/// Enters if the condition of the options holds, and catches errors if the options never throw.
template <class Options, class Call>
boost::asio::awaitable<Entry> enter_coroutine(CoroutineRun& run, const Options& options,
                                              const LockedSite& known, const Call& call) {
  if constexpr (!Options::always_asked) {
    try {
      if (!options.condition().holds(call)) co_return Entry::unneeded;
    } catch (const KeyError& error) {
      run.name(error, call.own_site(), known.note.text);
    }
  }
  co_return co_await run.enter(known, call.own_site(), call.addresses());
}

/// Runs the body in the coroutine that co_spawn started for it.
template <class Result, class Body>
boost::asio::awaitable<void> run_body(CoroutineRunOf<Result>& run, Body& body) {
  std::exception_ptr ended_by_loss;
  try {
    if constexpr (std::is_void_v<Result>) {
      co_await body();
    } else {
      run.result.emplace(co_await body());
    }
  } catch (...) {
    ended_by_loss = run.failed_in_body();
  }
  // The body's work is done, or the lock is lost: a cancellation does not hide that.
  co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
  co_await run.leave();
  if (ended_by_loss) std::rethrow_exception(ended_by_loss);
}

/// The coroutine that co_spawn starts: the whole call. `options`, `addresses` and `body` live in
/// the coroutine that awaits it.
template <class Ready, class Body, class Result, class Options>
boost::asio::awaitable<void> run_call(CoroutineRunOf<Result>& run, const Options& options,
                                      const void* const* addresses, Body& body) {
  using Returned = boost::asio::awaitable<Result>;
  const CoroutineRun::End end(run);
  const typename Ready::CallOfPlace call{{Ready::template site<Returned>, addresses}};
  const LockedSite& known = Ready::template site<Returned>;
  co_await accept_all_cancellations();
  Entry entry = Entry::held;
  if constexpr (Options::never_throws) {
    try {
      entry = co_await enter_coroutine(run, options, known, call);
    } catch (...) {
      entry = run.decided(LockedCall::failed(options.locks(), options.terms.type, call.own_site()));
    }
  } else {
    entry = co_await enter_coroutine(run, options, known, call);
  }
  const bool runs_unlocked =
      entry == Entry::unneeded || (Options::can_run_unlocked && entry == Entry::timeout);
  if (runs_unlocked) {
    run.enter_unlocked();
  } else if (entry != Entry::held) {
    if constexpr (can_be_skipped<Result>()) {
      if (entry == Entry::skipped_timeout || entry == Entry::skipped_unavailable) {
        co_return run.set([&] { return skipped<Result>(entry); });
      }
    }
    if constexpr (!Options::always_runs) {
      run.set([&] { return run_nothing<Result>(options, entry, call); });
    }
    co_return;
  }
  co_await run_body(run, body);
}

/// The handler of co_spawn: hands the outcome to the coroutine that awaits the call.
template <class Handler, class Result>
class LockedCompletion {
 public:
  LockedCompletion(Handler&& handler, std::shared_ptr<CoroutineRunOf<Result>> run)
      : handler_(std::move(handler)), run_(std::move(run)) {}

  void operator()(std::exception_ptr error) {
    run_->error = std::move(error);
    std::move(handler_)(std::move(run_));
  }

 private:
  Handler handler_;
  std::shared_ptr<CoroutineRunOf<Result>> run_;
};

/// `LOCKED(...) AROUND(...) -> asio::awaitable<T> { body }`. It is awaited where it stands, as an
/// rvalue, and does nothing else: its arguments, its decorator and its body live as long as the
/// expression. Trivially destructible; it lives in the Ready of its expression.
template <class Ready, class Body>
class LockedOperation {
 public:
  using Returned = decltype(std::declval<Body&>()());
  using Result = BodyResult<Returned>;
  using Options = typename Ready::Options;

  LockedOperation(const Options& options, const void* const* addresses, Body& body) noexcept
      : options_(&options), addresses_(addresses), body_(&body) {}
  LockedOperation& operator=(const LockedOperation&) = delete;
  LockedOperation(const LockedOperation&) = delete;
  /// Never moves. It exists for the compile error about an operation that is kept or returned.
  template <class Same>
    requires std::is_same_v<Same, LockedOperation>
  LockedOperation(Same&&) {  // NOLINT(*-explicit-constructor,*-forwarding-reference-overload)
    static_assert(never<Same>, LATCHKEY_DETAIL_AWAIT_IT);
  }
  /// Never converts, for the same reason.
  template <class T, class Executor>
  operator boost::asio::awaitable<T, Executor>() const {  // NOLINT(google-explicit-constructor)
    static_assert(never<T>, LATCHKEY_DETAIL_AWAIT_IT);
    return nobodys<boost::asio::awaitable<T, Executor>>();
  }
  /// Never called: co_spawn would call it.
  template <class T = Body>
  NeverSpawned<T> operator()() const {
    static_assert(never<T>, LATCHKEY_DETAIL_AWAIT_IT);
    return {};
  }

  /// Never called: coroutines that are not Asio's would await this.
  template <class T = Body>
  auto operator co_await() const {
    static_assert(never<T>, LATCHKEY_DETAIL_AWAIT_IT);
    return std::suspend_never();
  }

  /// Called by co_await, with the coroutine as the handler.
  template <boost::asio::completion_token_for<void(std::shared_ptr<CoroutineRunOf<Result>>)> Token>
  auto operator()(Token&& token) && {
    using Signature = void(std::shared_ptr<CoroutineRunOf<Result>>);
    static_assert(!is_users_token<std::decay_t<Token>, std::shared_ptr<CoroutineRunOf<Result>>>,
                  LATCHKEY_DETAIL_AWAIT_IT);
    return boost::asio::async_initiate<Token, Signature>(Start(), token, *options_, addresses_,
                                                         *body_);
  }

 private:
  struct Start {
    template <class Handler>
    void operator()(Handler&& handler, const Options& options, const void* const* addresses,
                    Body& body) const {
      static_assert(is_awaiting_coroutine<std::decay_t<Handler>>, LATCHKEY_DETAIL_AWAIT_IT);
      const auto executor = boost::asio::get_associated_executor(handler);
      auto run = std::make_shared<CoroutineRunOf<Result>>(options, executor);
      run->forward_cancellation(boost::asio::get_associated_cancellation_slot(handler));
      CoroutineRunOf<Result>& started = *run;
      boost::asio::co_spawn(
          started.executor(),
          run_call<Ready, Body, Result, Options>(started, options, addresses, body),
          boost::asio::bind_cancellation_slot(
              started.slot(), boost::asio::bind_executor(
                                  executor, LockedCompletion<std::decay_t<Handler>, Result>(
                                                std::forward<Handler>(handler), std::move(run)))));
    }
  };

  const Options* options_;
  const void* const* addresses_;
  Body* body_;
};

/// DECORATED with a coroutine: its arguments, its options and its body live in this frame.
template <class Ready, class Returned, class Options, class Body, class... Arguments>
Returned run_method(Options options, Body body, std::tuple<Arguments...> values) {
  MethodFrame<Arguments...> frame(values);
  const auto call = [&body, &frame]() -> Returned { return body(&frame); };
  using Call = std::remove_const_t<decltype(call)>;
  LockedOperation<Ready, const Call> operation(options, frame.addresses(), call);
  co_return co_await std::move(operation);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class T>
struct BodyKind<boost::asio::awaitable<T>> {
  static constexpr bool is_coroutine = true;
  using Result = T;
  template <class Ready, class Body>
  using Answer = std::conditional_t<is_method_body<Body>, boost::asio::awaitable<T>,
                                    LockedOperation<Ready, Body>&&>;

  template <class Ready, class Body>
  static Answer<Ready, Body> run(Ready& ready, Body& body) {
    using Options = typename Ready::Options;
    if constexpr (is_method_body<Body>) {
      constexpr bool owns_arguments = decltype(body(std::declval<FrameCheck*>()))::value;
      static_assert(
          owns_arguments,
          "latchkey: DECORATED: a coroutine may run when an argument that it takes by reference is "
          "dead: take it by value, as in (Account) account; a pointer or a std::reference_wrapper "
          "says that its caller keeps it alive");
      if constexpr (owns_arguments) {
        return run_method<Ready, boost::asio::awaitable<T>>(Options(ready.decorator.options),
                                                            Body(body), ready.take_arguments());
      } else {
        return nobodys<Answer<Ready, Body>>();
      }
    } else {
      static_assert(
          !destroys_temporaries_twice || std::is_trivially_destructible_v<Options>,
          "latchkey: this compiler destroys some temporaries of a co_await expression twice, so an "
          "option before AROUND of a coroutine must be trivially destructible: give skip_with a "
          "literal, fallback a lambda that captures by reference, and .in an lvalue; or declare "
          "the method with DECORATED");
      return std::move(*ready.operation.template emplace<LockedOperation<Ready, Body>>(
          ready.decorator.options, ready.addresses, body));
    }
  }
};

}  // namespace latchkey::inline v1::detail
