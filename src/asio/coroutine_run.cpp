// Runs a LOCKED whose body is a coroutine.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/asio/coroutine_run.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <latchkey/detail/asio/initiation.hpp>
#include <latchkey/locks.hpp>

#include "asio/coroutine_executor.hpp"
#include "locks/async/access.hpp"

namespace latchkey::inline v1::detail {

namespace asio = boost::asio;

CoroutineRun::CoroutineRun(std::shared_ptr<CoroutineCall> call, const asio::any_io_executor& caller)
    : BodyCancellation(CoroutineExecutor(CoroutineExecutor::strand_of(caller), call)),
      call_(std::move(call)) {}

asio::awaitable<std::optional<Hold>> CoroutineRun::acquire() {
  Attempt attempt = call_->attempt();
  call_->acquiring(attempt);
  std::optional<Hold> hold;
  try {
    if (call_->terms().raises_timeout) {
      hold = co_await asio::async_initiate<const asio::use_awaitable_t<>, AcquireSignature>(
          Initiation<AcquireSignature>(), asio::use_awaitable, call_->lock(), attempt);
    } else {
      hold = co_await asio::async_initiate<const asio::use_awaitable_t<>, TryAcquireSignature>(
          Initiation<TryAcquireSignature>(), asio::use_awaitable, call_->lock(), attempt);
    }
  } catch (...) {
    call_->failed_to_acquire(attempt);
    throw;
  }
  if (!hold) call_->not_acquired(Entry::timeout, attempt);
  co_return hold;
}

asio::awaitable<Entry> CoroutineRun::enter(const LockedSite& known, Site& site,
                                           const void* const* arguments) {
  call_->prepare(known, site, arguments);
  if (call_->terms().unlocked) {
    enter_unlocked();
    co_return Entry::held;
  }
  if (call_->cancel() != nullptr) cancel_on(*call_->cancel(), Reason::stop);
  std::optional<Hold> hold;
  bool unavailable = false;
  try {
    hold = co_await acquire();
  } catch (const Cancelled& cancelled) {
    // The token cancels the wait by the slot of the acquire.
    const std::stop_token* const token = call_->cancel();
    if (token == nullptr || !token->stop_requested()) throw;
    throw cancelled.caused_by(Cancelled::By::stop_token);
  } catch (const BackendUnavailable&) {
    if (call_->terms().raises_unavailable) throw;
    unavailable = true;
  }
  ignore_stops();
  // The stop token does not affect the body.
  if (call_->cancel() != nullptr) co_await accept_all_cancellations();
  if (unavailable) co_return decided(Entry::unavailable);
  if (!hold) co_return decided(Entry::timeout);
  const std::stop_token loss = call_->terms().raises_loss ? hold->stop_token() : std::stop_token();
  call_->enter(std::move(hold));
  if (loss.stop_possible()) cancel_on(loss, Reason::loss);
  co_return Entry::held;
}

Entry CoroutineRun::decided(Entry entry) noexcept {
  const LockTerms& terms = call_->terms();
  if (entry == Entry::timeout && terms.runs_unlocked) {
    enter_unlocked();
    return Entry::held;
  }
  if (entry == Entry::timeout && terms.skips_timeout) return Entry::skipped_timeout;
  if (entry == Entry::unavailable && terms.skips_unavailable) return Entry::skipped_unavailable;
  return entry;
}

asio::awaitable<void> CoroutineRun::leave() {
  ignore_stops();
  std::optional<Hold> hold = call_->leave();
  if (!hold) co_return;  // it ran unlocked
  if (!call_->terms().raises_loss && !call_->terms().raises_unconfirmed) {
    HoldAccess::release_quietly(*hold, call_->linger());
    co_return;
  }
  try {
    co_await release(std::move(*hold));
  } catch (const LockError&) {
    call_->failed_to_release();
  }
}

asio::awaitable<void> CoroutineRun::release(Hold hold) {
  const DecoratedRelease terms{call_->linger(), call_->origin(), call_->terms().lease};
  const bool held = co_await asio::async_initiate<const asio::use_awaitable_t<>, ReleaseSignature>(
      Initiation<ReleaseSignature>(), asio::use_awaitable, std::move(hold), terms);
  if (!held) call_->throw_lost();
}

void CoroutineRun::end() noexcept {
  end_cancellation();
  call_->end();
}

}  // namespace latchkey::inline v1::detail
