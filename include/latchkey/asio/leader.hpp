// A leader whose work is a coroutine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>

#include <latchkey/detail/asio/initiation.hpp>
#include <latchkey/leader.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1 {

/// The work of one term; see Leader::Callback.
using LeaderCoroutine = std::function<boost::asio::awaitable<void>(std::uint64_t term)>;

namespace detail {

/// The arguments of async_lead.
struct LeadTerms {
  Locks locks;
  std::string key;
  LeaderCoroutine work;
  LeaderOptions options;
};

void initiate(AnyHandler<DoneSignature>&& handler, HandlerContext&& context,
              std::shared_ptr<LeadTerms> terms);

}  // namespace detail

/// A Leader as an operation: campaigns for the lock of `key`, and runs `work` as a coroutine while
/// it leads, on a strand over the token's associated executor.
///
/// | what happens                                       | effect                                  |
/// |----------------------------------------------------|-----------------------------------------|
/// | the lock is lost, or only `stop_before` remains    | `work` is cancelled (terminal), then it |
/// |                                                    | pauses and campaigns again              |
/// | `work` throws                                      | the same, after a `hidden_error`        |
/// | `work` returns                                     | LeaderOptions::after_return decides     |
/// | a cancellation, of any type                        | `work` is cancelled; then the operation |
/// |                                                    | completes with Cancelled                |
/// | the Locks are closed                               | it completes with Closed                |
/// | `work` returns, with AfterReturn::end              | it completes without an error           |
///
/// It completes when the lock is released. Promises and options are those of Leader, whose two
/// threads it has: one campaigns and watches the lock, the other waits for the coroutine. Errors of
/// the arguments are those of Locks::leader, in the exception_ptr.
template <boost::asio::completion_token_for<detail::DoneSignature> Token>
auto async_lead(Locks locks, std::string key, LeaderCoroutine work, LeaderOptions options,
                Token&& token) {
  return boost::asio::async_initiate<Token, detail::DoneSignature>(
      detail::Initiation<detail::DoneSignature>(), token,
      std::make_shared<detail::LeadTerms>(
          detail::LeadTerms{std::move(locks), std::move(key), std::move(work), options}));
}
template <boost::asio::completion_token_for<detail::DoneSignature> Token>
auto async_lead(Locks locks, std::string key, LeaderCoroutine work, Token&& token) {
  return async_lead(std::move(locks), std::move(key), std::move(work), LeaderOptions(),
                    std::forward<Token>(token));
}

}  // namespace latchkey::inline v1
