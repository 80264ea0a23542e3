// How a body that is a coroutine of its own is cancelled.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace latchkey::inline v1::detail {

/// Cancels exactly one body, which co_spawn starts on `executor()`, a strand: because the coroutine
/// that awaits it is cancelled, or because a stop is requested on any thread.
class BodyCancellation : public std::enable_shared_from_this<BodyCancellation> {
 public:
  /// `strand` runs the body.
  explicit BodyCancellation(boost::asio::any_io_executor strand) noexcept
      : executor_(std::move(strand)) {}
  BodyCancellation(const BodyCancellation&) = delete;
  BodyCancellation& operator=(const BodyCancellation&) = delete;

  [[nodiscard]] const boost::asio::any_io_executor& executor() const noexcept { return executor_; }
  [[nodiscard]] boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }
  /// Passes a cancellation of the coroutine that awaits the body on to the body.
  void forward_cancellation(boost::asio::cancellation_slot from);

  // --- by the body's coroutine ---
  /// Why the body is cancelled: a loss, or any other reason.
  enum class Reason : bool { stop, loss };
  /// From now on a stop request cancels the body.
  void cancel_on(const std::stop_token& token, Reason reason);
  void ignore_stops() noexcept { stops_.reset(); }
  /// A loss has cancelled the body.
  [[nodiscard]] bool is_lost() const noexcept { return lost_; }
  /// Nothing is cancelled after this.
  void end_cancellation() noexcept;
  /// For the handler around the body. Returns the exception if it says that the loss has ended the
  /// body; throws all others again, and Error::body_ran() tells of those of latchkey.
  [[nodiscard]] std::exception_ptr failed_in_body() const;

 private:
  /// Posts a cancellation to the body.
  struct Cancel {
    std::weak_ptr<BodyCancellation> body;
    Reason reason = Reason::stop;
    void operator()() const noexcept { post(boost::asio::cancellation_type::terminal); }
    void operator()(boost::asio::cancellation_type type) const noexcept { post(type); }
    void post(boost::asio::cancellation_type type) const noexcept;
  };

  void cancel(boost::asio::cancellation_type type, Reason reason);

  const boost::asio::any_io_executor executor_;
  boost::asio::cancellation_signal signal_{};
  bool ended_ = false;
  bool lost_ = false;
  std::optional<std::stop_callback<Cancel>> stops_{};
};

/// The first line of a body: it accepts all cancellation types.
boost::asio::awaitable<void> accept_all_cancellations();

template <class Result>
boost::asio::awaitable<Result> accept_all_and_run(boost::asio::awaitable<Result> body) {
  co_await accept_all_cancellations();
  co_return co_await std::move(body);
}

}  // namespace latchkey::inline v1::detail
