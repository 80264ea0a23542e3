// The fixture that the tests of LOCKED around coroutines share.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string_view>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <latchkey/latchkey.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "asio/fixture.hpp"

namespace latchkey::tests {

class AsioLockedTest : public ::testing::Test {
 protected:
  asio::io_context context;
  Locks locks = Locks::connect("memory:");
  ::latchkey::testing::ScopedLocks scoped{locks};
};

/// Suspends the coroutine.
inline asio::awaitable<void> pause(
    std::chrono::milliseconds length = std::chrono::milliseconds(1)) {
  asio::steady_timer timer(co_await asio::this_coro::executor, length);
  co_await timer.async_wait(asio::use_awaitable);
}

inline std::size_t holders_of(const Locks& locks, std::string_view key) {
  return locks.inspect(key).holders.size();
}

}  // namespace latchkey::tests
