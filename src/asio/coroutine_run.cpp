// Runs a LOCKED whose body is a coroutine.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/asio/coroutine_run.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <latchkey/asio/initiation.hpp>
#include <latchkey/locks.hpp>

#include "asio/coroutine_executor.hpp"

namespace latchkey::inline v1::detail {

namespace asio = boost::asio;

CoroutineRun::CoroutineRun(std::shared_ptr<CoroutineCall> call, const asio::any_io_executor& caller)
    : call_(std::move(call)),
      executor_(CoroutineExecutor(CoroutineExecutor::strand_of(caller), call_)) {}

// --- cancellation ---

void CoroutineRun::forward_cancellation(asio::cancellation_slot from) {
  if (from.is_connected()) from.emplace<Cancel>(Cancel{weak_from_this()});
}

// On any thread. The signal belongs to the strand.
void CoroutineRun::Cancel::post(asio::cancellation_type type) const noexcept {
  const std::shared_ptr<CoroutineRun> kept = run.lock();
  if (kept == nullptr) return;
  try {
    asio::post(kept->executor_, [kept, type, loss = by_loss] { kept->cancel(type, loss); });
  } catch (const std::bad_alloc&) {
    return;  // the body runs to its end, and then the loss is thrown
  }
}

void CoroutineRun::cancel(asio::cancellation_type type, bool by_loss) {
  if (ended_) return;
  lost_ = lost_ || by_loss;
  signal_.emit(type);
}

asio::awaitable<void> CoroutineRun::accept_all_cancellations() {
  co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
}

// --- the lock ---

asio::awaitable<std::optional<Hold>> CoroutineRun::acquire() {
  const Attempt attempt = call_->attempt();
  std::optional<Hold> hold;
  if (call_->terms().raises_timeout) {
    hold = co_await asio::async_initiate<const asio::use_awaitable_t<>, AcquireSignature>(
        Initiation<AcquireSignature>(), asio::use_awaitable, call_->lock(), attempt);
  } else {
    hold = co_await asio::async_initiate<const asio::use_awaitable_t<>, TryAcquireSignature>(
        Initiation<TryAcquireSignature>(), asio::use_awaitable, call_->lock(), attempt);
  }
  co_return hold;
}

asio::awaitable<Entry> CoroutineRun::enter(const LockedSite& known, Site& site,
                                           const void* const* arguments) {
  call_->prepare(known, site, arguments);
  if (call_->terms().unlocked) {
    enter_unlocked();
    co_return Entry::held;
  }
  if (call_->cancel() != nullptr) stops_.emplace(*call_->cancel(), Cancel{weak_from_this()});
  std::optional<Hold> hold;
  bool unavailable = false;
  try {
    hold = co_await acquire();
  } catch (const BackendUnavailable&) {
    if (call_->terms().raises_unavailable) throw;
    unavailable = true;
  }
  stops_.reset();
  // The stop token does not affect the body.
  if (call_->cancel() != nullptr) co_await accept_all_cancellations();
  if (unavailable) co_return decided(Entry::unavailable);
  if (!hold) co_return decided(Entry::timeout);
  const std::stop_token loss = call_->terms().raises_loss ? hold->stop_token() : std::stop_token();
  call_->enter(std::move(hold));
  if (loss.stop_possible()) stops_.emplace(loss, Cancel{weak_from_this(), true});
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
  stops_.reset();
  std::optional<Hold> hold = call_->leave();
  if (!hold) co_return;  // it ran unlocked
  if (!call_->terms().raises_loss) {
    hold->release_quietly_after(call_->linger());
    co_return;
  }
  try {
    co_await release(std::move(*hold));
  } catch (const ReleaseUnconfirmed&) {
    // As in LockedCall::leave.
    if (call_->terms().raises_unavailable) throw;
  }
}

asio::awaitable<void> CoroutineRun::release(Hold hold) {
  const DecoratedRelease terms{call_->linger(), call_->origin(), call_->terms().lease};
  const bool held = co_await asio::async_initiate<const asio::use_awaitable_t<>, ReleaseSignature>(
      Initiation<ReleaseSignature>(), asio::use_awaitable, std::move(hold), terms);
  if (!held) call_->throw_lost();
}

std::exception_ptr CoroutineRun::failed_in_body() {
  try {
    throw;
  } catch (const boost::system::system_error& error) {
    if (!lost_ || error.code() != asio::error::operation_aborted) throw;
  } catch (Error& error) {
    if (!lost_ || dynamic_cast<const Cancelled*>(&error) == nullptr) {
      error.note_body_ran();
      throw;
    }
  }
  return std::current_exception();
}

void CoroutineRun::end() noexcept {
  ended_ = true;
  stops_.reset();
  static_cast<void>(call_->leave());
}

}  // namespace latchkey::inline v1::detail
