// The accounts of http_service.cpp with annotations of C++26: coroutines that a proxy locks.
#pragma once

#include <latchkey/annotations.hpp>
#include <latchkey/asio.hpp>

#include <chrono>
#include <optional>
#include <string>

#include "balances.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;
namespace asio = boost::asio;

/// The coroutines of Ledger. They take the same locks if latchkey::Annotated calls them.
// clang-format off: as docs/annotations.md has it
class AnnotatedLedger : Balances {
 public:
  [[=latchkey::locked("account:{account}", LockType::WRITE, 5s, 30s)]]
  asio::awaitable<int> deposit(std::string account, int amount) {
    const int before = balances_[account];
    co_await store();
    co_return balances_[account] = before + amount;
  }

  [[=latchkey::locked(KEYS("account:{from}", "account:{to}"), LockType::WRITE, 5s, 30s)]]
  asio::awaitable<bool> transfer(std::string from, std::string to, int amount) {
    const int before_from = balances_[from];
    const int before_to = balances_[to];
    co_await store();
    if (before_from < amount || from == to) co_return false;
    balances_[from] = before_from - amount;
    balances_[to] = before_to + amount;
    co_return true;
  }

  /// If the account is busy for 2 s, the caller may ask again.
  [[=latchkey::locked("account:{account}", LockType::READ, 2s, 30s)
        .on_timeout(latchkey::strategy::skip)]]
  asio::awaitable<std::optional<int>> balance(std::string account) {
    ASSERT_HELD("account:{account}", account);
    co_await store();
    co_return balances_[account];
  }
};
// clang-format on
