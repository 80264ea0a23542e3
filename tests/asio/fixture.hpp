// The helpers that the tests of coroutines share.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <latchkey/asio.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::tests {

namespace asio = boost::asio;

/// Rethrows what a coroutine threw, on the thread that runs its context.
inline void rethrow(std::exception_ptr error) {
  if (error) std::rethrow_exception(std::move(error));
}

/// Runs the coroutine, and everything else in `context`, until nothing is left.
inline void run(asio::io_context& context, asio::awaitable<void> coroutine) {
  asio::co_spawn(context, std::move(coroutine), rethrow);
  context.restart();
  context.run();
}

/// Runs `context` on several threads until nothing is left.
inline void run_on(asio::io_context& context, int threads) {
  context.restart();
  std::vector<std::jthread> pool;
  for (int thread = 1; thread < threads; ++thread) {
    pool.emplace_back([&] { context.run(); });
  }
  context.run();
}

}  // namespace latchkey::tests
