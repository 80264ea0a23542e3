// Acquires and releases with any completion token of Boost.Asio.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <functional>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/thread_pool.hpp>

#include <latchkey/detail/asio/initiation.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/semaphore.hpp>

namespace latchkey::inline v1 {

// * The handler is posted to the token's associated executor; it never runs inside the function
//   that starts the operation, nor inside a release.
// * An error is an exception_ptr: the exception that the function of the same name of Lock or Hold
//   throws, or Cancelled.
// * All three cancellation types end a wait with Cancelled. A grant that arrives after that is
//   given back. A cancellation that arrives after the grant has no effect.
// * An operation without an owner of its own has a new one: two operations of one coroutine exclude
//   each other. To re-enter, make an Owner and use `locks.with_owner(owner)` for all of them.
// * The destructor of the Hold sends the release and does not wait for its reply.
// * The threads that run the token's execution context also do the I/O. If the context is
//   destroyed, its pending operations end without calling their handlers.

/// Lock::acquire, also for a lock of several keys. Completes with `Hold`.
template <boost::asio::completion_token_for<detail::AcquireSignature> Token>
auto async_acquire(Lock lock, Wait wait, Lease lease, Token&& token) {
  const Attempt attempt = detail::attempt_of(lock, wait, lease);
  return boost::asio::async_initiate<Token, detail::AcquireSignature>(
      detail::Initiation<detail::AcquireSignature>(), token, std::move(lock), attempt);
}
/// With default_wait and the watchdog, as Lock::acquire().
template <boost::asio::completion_token_for<detail::AcquireSignature> Token>
auto async_acquire(Lock lock, Token&& token) {
  return async_acquire(std::move(lock), default_wait, watchdog, std::forward<Token>(token));
}

/// Lock::try_acquire. Completes with `std::optional<Hold>`, which is empty if the lock was busy for
/// the whole wait.
template <boost::asio::completion_token_for<detail::TryAcquireSignature> Token>
auto async_try_acquire(Lock lock, Wait wait, Lease lease, Token&& token) {
  const Attempt attempt = detail::attempt_of(lock, wait, lease);
  return boost::asio::async_initiate<Token, detail::TryAcquireSignature>(
      detail::Initiation<detail::TryAcquireSignature>(), token, std::move(lock), attempt);
}

/// Semaphore::acquire: waits for `permits` permits and takes all of them at once. Completes with
/// `Hold`. Throws std::invalid_argument for a number of permits that the semaphore cannot give.
template <boost::asio::completion_token_for<detail::AcquireSignature> Token>
auto async_acquire(Semaphore semaphore, int permits, Wait wait, Lease lease, Token&& token) {
  const Attempt attempt = detail::attempt_of(semaphore, permits, wait, lease);
  return boost::asio::async_initiate<Token, detail::AcquireSignature>(
      detail::Initiation<detail::AcquireSignature>(), token, detail::lock_of(semaphore), attempt);
}
/// For one permit, with default_wait and the watchdog, as Semaphore::acquire().
template <boost::asio::completion_token_for<detail::AcquireSignature> Token>
auto async_acquire(Semaphore semaphore, Token&& token) {
  return async_acquire(std::move(semaphore), 1, default_wait, watchdog, std::forward<Token>(token));
}

/// Semaphore::try_acquire. Completes with `std::optional<Hold>`, which is empty if there were too
/// few permits for the whole wait.
template <boost::asio::completion_token_for<detail::TryAcquireSignature> Token>
auto async_try_acquire(Semaphore semaphore, int permits, Wait wait, Lease lease, Token&& token) {
  const Attempt attempt = detail::attempt_of(semaphore, permits, wait, lease);
  return boost::asio::async_initiate<Token, detail::TryAcquireSignature>(
      detail::Initiation<detail::TryAcquireSignature>(), token, detail::lock_of(semaphore),
      attempt);
}

/// Hold::extend. Completes with `bool`: false if the backend no longer has the hold, or the hold
/// was released meanwhile. It cannot be cancelled, and ends after Options::command_timeout at the
/// latest. `hold` must live until it is started, which `use_awaitable` and `deferred` put off.
template <boost::asio::completion_token_for<detail::FlagSignature> Token>
auto async_extend(Hold& hold, std::chrono::milliseconds lease, Token&& token) {
  return boost::asio::async_initiate<Token, detail::FlagSignature>(
      detail::Initiation<detail::FlagSignature>(), token, std::ref(hold), lease);
}

/// Hold::release. Completes with `bool`: false if the hold had been lost. It cannot be cancelled.
template <boost::asio::completion_token_for<detail::ReleaseSignature> Token>
auto async_release(Hold hold, Token&& token) {
  return boost::asio::async_initiate<Token, detail::ReleaseSignature>(
      detail::Initiation<detail::ReleaseSignature>(), token, std::move(hold));
}

/// Locks::close: nothing is granted from now on, waits end with Closed, and holders have `drain` to
/// release. Unlike Locks::close it leaves the thread free, so holders that are coroutines of the
/// same executor can release. A cancellation, of any type, ends the drain at once. Completes when
/// the listener has received all events. The close runs on a thread of its own; std::system_error
/// if there is none. If the context is destroyed meanwhile, it waits until the close has ended,
/// without the rest of the drain.
template <boost::asio::completion_token_for<detail::DoneSignature> Token>
auto async_close(Locks locks, std::chrono::milliseconds drain, Token&& token) {
  return boost::asio::async_initiate<Token, detail::DoneSignature>(
      detail::Initiation<detail::DoneSignature>(), token, std::move(locks), drain);
}

/// From now on `pool` runs the attempts of these Locks' backend, which block their threads: a
/// SimpleBackend. Without a pool, asynchronous operations on such a backend end with NotConfigured.
/// Does nothing for other backends. Call it once, before the first operation; the pool must outlive
/// the operations.
void use_thread_pool(const Locks& locks, boost::asio::thread_pool& pool);

}  // namespace latchkey::inline v1
