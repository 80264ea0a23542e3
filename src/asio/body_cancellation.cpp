// How a body that is a coroutine of its own is cancelled.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/asio/body_cancellation.hpp>

#include <new>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <latchkey/error.hpp>

namespace latchkey::inline v1::detail {

namespace asio = boost::asio;

void BodyCancellation::forward_cancellation(asio::cancellation_slot from) {
  if (from.is_connected()) from.emplace<Cancel>(Cancel{weak_from_this()});
}

void BodyCancellation::cancel_on(const std::stop_token& token, Reason reason) {
  stops_.emplace(token, Cancel{weak_from_this(), reason});
}

// On any thread. The signal belongs to the strand, which keeps what is posted to it if its context
// has ended: so that must not keep the body, whose strand it is.
void BodyCancellation::Cancel::post(asio::cancellation_type type) const noexcept {
  const std::shared_ptr<BodyCancellation> kept = body.lock();
  if (kept == nullptr) return;
  try {
    asio::post(kept->executor_, [weak = body, type, why = reason] {
      if (const auto still = weak.lock()) still->cancel(type, why);
    });
  } catch (const std::bad_alloc&) {
    return;  // the body runs to its end, and then a loss is thrown
  }
}

void BodyCancellation::cancel(asio::cancellation_type type, Reason reason) {
  if (ended_) return;
  lost_ = lost_ || reason == Reason::loss;
  signal_.emit(type);
}

void BodyCancellation::end_cancellation() noexcept {
  ended_ = true;
  stops_.reset();
}

std::exception_ptr BodyCancellation::failed_in_body() const {
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

asio::awaitable<void> accept_all_cancellations() {
  co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
}

}  // namespace latchkey::inline v1::detail
