// The accounts' balances, in a store that is slow.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

/// It locks nothing: Ledger and AnnotatedLedger do.
class Balances {
 protected:
  static boost::asio::awaitable<void> store() {
    boost::asio::steady_timer reply(co_await boost::asio::this_coro::executor,
                                    std::chrono::microseconds(100));
    co_await reply.async_wait(boost::asio::use_awaitable);
  }

  std::map<std::string, int> balances_;
};
