// How a completion token's handler becomes an asynchronous operation of the library.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/semaphore.hpp>

namespace latchkey::inline v1::detail {

using AcquireSignature = void(std::exception_ptr, Hold);
using TryAcquireSignature = void(std::exception_ptr, std::optional<Hold>);
/// The signature of release, extend and all else that ends as yes or no.
using FlagSignature = void(std::exception_ptr, bool);
using ReleaseSignature = FlagSignature;
using DoneSignature = void(std::exception_ptr);
template <class Signature>
using AnyHandler = boost::asio::any_completion_handler<Signature>;

/// Where a handler runs.
struct HandlerContext {
  boost::asio::any_io_executor executor{};
  /// Its threads also drive the backend. Null: they are Asio's own (system_executor).
  boost::asio::execution_context* context = nullptr;
};

template <class Executor>
HandlerContext context_of(const Executor& executor) {
  static_assert(std::is_convertible_v<const Executor&, boost::asio::any_io_executor>,
                "latchkey: the handler's associated executor must convert to any_io_executor");
  HandlerContext made{executor};
  if constexpr (!std::is_same_v<Executor, boost::asio::system_executor>) {
    made.context = &boost::asio::query(made.executor, boost::asio::execution::context);
  }
  return made;
}

/// How a decorated call releases.
struct DecoratedRelease {
  std::chrono::milliseconds linger{0};  ///< the key stays locked for so long
  Origin origin{};                      ///< for errors
  Lease lease = watchdog;
};

/// Starts the operation and returns.
void initiate(AnyHandler<AcquireSignature>&& handler, HandlerContext&& context, Lock&& lock,
              Attempt attempt);
void initiate(AnyHandler<TryAcquireSignature>&& handler, HandlerContext&& context, Lock&& lock,
              Attempt attempt);
void initiate(AnyHandler<ReleaseSignature>&& handler, HandlerContext&& context, Hold&& hold);
/// Completes with LockLost if the hold had been lost; with false if there was nothing to release.
void initiate(AnyHandler<ReleaseSignature>&& handler, HandlerContext&& context, Hold&& hold,
              DecoratedRelease terms);

void initiate(AnyHandler<FlagSignature>&& handler, HandlerContext&& context,
              std::reference_wrapper<Hold> hold, std::chrono::milliseconds lease);
void initiate(AnyHandler<DoneSignature>&& handler, HandlerContext&& context, Locks&& locks,
              std::chrono::milliseconds drain);

/// The lock whose permits a semaphore gives, and an acquire of `permits` of them. The attempt
/// throws std::invalid_argument for a bad number.
[[nodiscard]] Lock lock_of(const Semaphore& semaphore);
[[nodiscard]] Attempt attempt_of(const Semaphore& semaphore, int permits, Wait wait, Lease lease);
/// The acquire of `lock`, which is no decorated call.
inline Attempt attempt_of(const Lock& lock, Wait wait, Lease lease) noexcept {
  Attempt attempt;
  attempt.type = lock.type();
  attempt.wait = wait;
  attempt.lease = lease;
  return attempt;
}

/// The function object of async_initiate. A type of its own instead of a lambda: GCC 12 destroys
/// some lambdas of a co_await expression twice.
template <class Signature>
struct Initiation {
  template <class Handler, class... Arguments>
  void operator()(Handler&& handler, Arguments... arguments) const {
    HandlerContext context = context_of(boost::asio::get_associated_executor(handler));
    initiate(AnyHandler<Signature>(std::forward<Handler>(handler)), std::move(context),
             std::move(arguments)...);
  }
};

}  // namespace latchkey::inline v1::detail
