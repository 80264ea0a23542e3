// The executor of a coroutine under LOCKED.
// SPDX-License-Identifier: BSL-1.0
#include "asio/coroutine_executor.hpp"

#include <boost/asio/strand.hpp>

namespace latchkey::inline v1::detail {

namespace asio = boost::asio;

asio::any_io_executor CoroutineExecutor::outermost(const asio::any_io_executor& executor) {
  const auto* const of_coroutine = executor.target<CoroutineExecutor>();
  if (of_coroutine == nullptr) return executor;
  return of_coroutine->inner().target<asio::strand<asio::any_io_executor>>()->get_inner_executor();
}

asio::any_io_executor CoroutineExecutor::strand_of(const asio::any_io_executor& executor) {
  const auto* const of_coroutine = executor.target<CoroutineExecutor>();
  if (of_coroutine != nullptr) return of_coroutine->inner();
  return asio::make_strand(executor);
}

}  // namespace latchkey::inline v1::detail
