// Latches with any completion token of Boost.Asio.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <cstdint>
#include <exception>
#include <utility>

#include <boost/asio/async_result.hpp>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/detail/asio/initiation.hpp>
#include <latchkey/wait.hpp>

namespace latchkey::inline v1 {
namespace detail {

using CountSignature = void(std::exception_ptr, std::uint32_t);

/// The count that a request sets a latch to, in a type of its own.
struct LatchCount {
  std::uint32_t count;
};

void initiate(AnyHandler<DoneSignature>&& handler, HandlerContext&& context, CountDownLatch&& latch,
              Wait length);
void initiate(AnyHandler<FlagSignature>&& handler, HandlerContext&& context, CountDownLatch&& latch,
              Wait length);
void initiate(AnyHandler<FlagSignature>&& handler, HandlerContext&& context, CountDownLatch&& latch,
              LatchCount set);
/// Counts down if `counts_down`; otherwise only reads.
void initiate(AnyHandler<CountSignature>&& handler, HandlerContext&& context,
              CountDownLatch&& latch, bool counts_down);

}  // namespace detail

// The promises of latchkey/asio/async.hpp hold for these, too: where the handler runs, what an
// error is, and that all three cancellation types end a wait with Cancelled. The other functions
// cannot be cancelled. The timer thread carries out the waits.

/// CountDownLatch::wait. Completes with nothing once the count is zero.
template <boost::asio::completion_token_for<detail::DoneSignature> Token>
auto async_wait(CountDownLatch latch, Token&& token) {
  return boost::asio::async_initiate<Token, detail::DoneSignature>(
      detail::Initiation<detail::DoneSignature>(), token, std::move(latch), Wait(forever));
}

/// CountDownLatch::wait_for. Completes with `bool`: false if the count is not zero when `length`
/// has passed.
template <boost::asio::completion_token_for<detail::FlagSignature> Token>
auto async_wait_for(CountDownLatch latch, Wait length, Token&& token) {
  return boost::asio::async_initiate<Token, detail::FlagSignature>(
      detail::Initiation<detail::FlagSignature>(), token, std::move(latch), length);
}

/// CountDownLatch::try_set_count. Completes with `bool`: false if the latch has a count.
template <boost::asio::completion_token_for<detail::FlagSignature> Token>
auto async_try_set_count(CountDownLatch latch, std::uint32_t count, Token&& token) {
  return boost::asio::async_initiate<Token, detail::FlagSignature>(
      detail::Initiation<detail::FlagSignature>(), token, std::move(latch),
      detail::LatchCount{count});
}

/// CountDownLatch::count_down. Completes with what remains, a std::uint32_t.
template <boost::asio::completion_token_for<detail::CountSignature> Token>
auto async_count_down(CountDownLatch latch, Token&& token) {
  return boost::asio::async_initiate<Token, detail::CountSignature>(
      detail::Initiation<detail::CountSignature>(), token, std::move(latch), true);
}

/// CountDownLatch::count. Completes with a std::uint32_t.
template <boost::asio::completion_token_for<detail::CountSignature> Token>
auto async_count(CountDownLatch latch, Token&& token) {
  return boost::asio::async_initiate<Token, detail::CountSignature>(
      detail::Initiation<detail::CountSignature>(), token, std::move(latch), false);
}

}  // namespace latchkey::inline v1
