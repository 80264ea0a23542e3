// A job that runs at most once for each scheduled instant, as a coroutine.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/asio/once.hpp>

#include <boost/asio/async_result.hpp>

#include <latchkey/asio/async.hpp>
#include <latchkey/detail/asio/initiation.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/owner.hpp>

#include "asio/coroutine_executor.hpp"
#include "once/once_job.hpp"

namespace latchkey::inline v1::detail {

namespace asio = boost::asio;

asio::awaitable<void> OnceCoroutine::take() {
  if (!attempt_.begin()) co_return;
  const Attempt terms = attempt_.attempt();
  const Lock lock = attempt_.job_->locks.with_owner(Owner::make()).lock(attempt_.key_, terms.type);
  try {
    attempt_.granted(co_await asio::async_initiate<const asio::use_awaitable_t<>, AcquireSignature>(
        Initiation<AcquireSignature>(), asio::use_awaitable, Lock(lock), terms));
  } catch (const LockTimeout& error) {
    attempt_.busy(error);
  }
}

std::shared_ptr<BodyCancellation> OnceCoroutine::begin(const asio::any_io_executor& executor) {
  auto cancellation = std::make_shared<BodyCancellation>(CoroutineExecutor::strand_of(executor));
  if (attempt_.job_->on_failure == OnFailure::retry) {
    cancellation->cancel_on(attempt_.hold_->stop_token(), BodyCancellation::Reason::loss);
  }
  return cancellation;
}

asio::awaitable<void> OnceCoroutine::finish(std::exception_ptr by_loss) {
  try {
    co_await mark();
    if (by_loss) attempt_.throw_lost();
  } catch (Error& error) {
    attempt_.not_marked(error);
    throw;
  }
  attempt_.marked();
}

// As OnceAttempt::mark. A hold of a coroutine is released without waiting for the reply.
asio::awaitable<void> OnceCoroutine::mark() {
  using Mark = OnceAttempt::Mark;
  const std::chrono::milliseconds lease = attempt_.mark_lease_;
  Mark how = attempt_.how_to_mark();
  if (how == Mark::extend) {
    const bool extended = co_await async_extend(*attempt_.hold_, lease, asio::use_awaitable);
    how = extended ? Mark::keep : Mark::retake;
  }
  if (how == Mark::keep) {
    attempt_.keep_mark();
    co_return;
  }
  const Attempt terms = attempt_.retake_attempt();
  const Lock lock = attempt_.job_->locks.with_owner(Owner::make()).lock(attempt_.key_, terms.type);
  attempt_.hold_ =
      co_await asio::async_initiate<const asio::use_awaitable_t<>, TryAcquireSignature>(
          Initiation<TryAcquireSignature>(), asio::use_awaitable, Lock(lock), terms);
  if (attempt_.hold_) attempt_.keep_mark();
  attempt_.throw_lost();
}

}  // namespace latchkey::inline v1::detail
